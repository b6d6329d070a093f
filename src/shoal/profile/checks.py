"""Check digits of numbers that identify people, cards and vehicles; each test is true for a well-formed text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

__all__ = ["NATIONAL_NUMBERS", "is_card", "is_iban", "is_imei", "is_vehicle"]

DIGIT_GROUPS = re.compile(r"[\s./-]")


def digits_of(text: str, length: int) -> list[int] | None:
    """Return the digits of a number with or without separators; None if it has another length."""
    plain = DIGIT_GROUPS.sub("", text)
    return [int(sign) for sign in plain] if len(plain) == length and plain.isascii() and plain.isdigit() else None


def weighted(digits: Sequence[int], weights: Sequence[int]) -> int:
    """Return the sum of the digits, each times its weight."""
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=False))


def passes_luhn(digits: Sequence[int]) -> bool:
    """Tell whether the last digit is the check digit of Luhn's algorithm."""
    doubled = [2 * digit - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and any(digits)


def is_day(year: int, month: int, day: int) -> bool:
    """Tell whether this date exists."""
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def is_card(text: str) -> bool:
    """Recognise a payment card: 13 to 19 digits, first 3 to 6, Luhn."""
    plain = re.sub(r"[ -]", "", text)
    return re.fullmatch(r"[3-6][0-9]{12,18}", plain) is not None and passes_luhn([int(sign) for sign in plain])


def is_imei(text: str) -> bool:
    """Recognise the number of a mobile device: 15 digits, Luhn."""
    digits = digits_of(text, 15)
    return digits is not None and passes_luhn(digits)


def is_iban(text: str) -> bool:
    """Recognise a bank account by ISO 13616: country, two check digits, modulo 97."""
    plain = text.replace(" ", "").upper()
    if re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", plain) is None:
        return False
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def is_vehicle(text: str) -> bool:
    """Recognise a vehicle by ISO 3779: 17 characters; the ninth is the check digit of North America."""
    plain = text.upper()
    if re.fullmatch(r"[A-HJ-NPR-Z0-9]{17}", plain) is None or plain.isdigit() or plain.isalpha():
        return False
    value = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
    total = weighted(
        [value[sign] if sign in value else int(sign) for sign in plain],
        (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2),
    )
    return plain[8] == "0123456789X"[total % 11]


def is_us_ssn(text: str) -> bool:
    """Social security number with its dashes; nine digits without dashes are too unspecific."""
    return re.fullmatch(r"[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}", text) is not None


def is_swiss_ahv(text: str) -> bool:
    """AHV number: 13 digits from 756, check digit of EAN-13."""
    digits = digits_of(text, 13)
    return digits is not None and digits[:3] == [7, 5, 6] and weighted(digits, (1, 3) * 6 + (1,)) % 10 == 0


def is_german_tax_id(text: str) -> bool:
    """Tax id: 11 digits, ISO 7064 modulo 11, 10."""
    digits = digits_of(text, 11)
    if digits is None or digits[0] == 0:
        return False
    product = 10
    for digit in digits[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == digits[10]


def is_german_health_number(text: str) -> bool:
    """Health insurance number: a letter and nine digits, the last one a check digit."""
    if re.fullmatch(r"[A-Z][0-9]{9}", text) is None:
        return False
    digits = [int(sign) for sign in f"{ord(text[0]) - 64:02d}{text[1:]}"]
    products = [digit * weight for digit, weight in zip(digits[:10], (1, 2) * 5, strict=True)]
    return sum(product // 10 + product % 10 for product in products) % 10 == digits[10]


def is_german_pension_number(text: str) -> bool:
    """Pension insurance number: 8 digits, a letter, 3 digits, the last one a check digit."""
    plain = re.sub(r"\s", "", text)
    if re.fullmatch(r"[0-9]{8}[A-Z][0-9]{3}", plain) is None:
        return False
    digits = [int(sign) for sign in f"{plain[:8]}{ord(plain[8]) - 64:02d}{plain[9:]}"]
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    products = [digit * weight for digit, weight in zip(digits[:12], weights, strict=True)]
    return sum(product // 10 + product % 10 for product in products) % 10 == digits[12]


def is_uk_nino(text: str) -> bool:
    """National insurance number: two letters, six digits, a letter from A to D."""
    return re.fullmatch(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?(\d\d ?){3}[A-D]", text) is not None


def is_uk_nhs(text: str) -> bool:
    """NHS number: ten digits, modulo 11."""
    digits = digits_of(text, 10)
    return digits is not None and any(digits) and (11 - weighted(digits, range(10, 1, -1)) % 11) % 11 == digits[9]


def is_swedish_personnummer(text: str) -> bool:
    """Personnummer: a date of birth and four digits, Luhn over the last ten."""
    plain = re.sub(r"[-+]", "", text)
    if re.fullmatch(r"([0-9]{2})?[0-9]{10}", plain) is None:
        return False
    digits = [int(sign) for sign in plain[-10:]]
    return passes_luhn(digits) and is_day(2000, int(plain[-8:-6]), int(plain[-6:-4]))


def is_norwegian_number(text: str) -> bool:
    """Fødselsnummer: a date of birth and five digits, two of them check digits modulo 11."""
    d = digits_of(text, 11)
    if d is None or not is_day(2000, d[2] * 10 + d[3], d[0] * 10 + d[1]):
        return False
    first = weighted(d, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1))
    second = weighted(d, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1))
    return first % 11 == 0 and second % 11 == 0


def is_danish_cpr(text: str) -> bool:
    """CPR number with its dash: a date of birth and four digits."""
    if re.fullmatch(r"[0-9]{6}-[0-9]{4}", text) is None:
        return False
    return is_day(2000, int(text[2:4]), int(text[:2]))


def is_finnish_hetu(text: str) -> bool:
    """Personal identity code: date of birth, century character, three digits and a check character modulo 31."""
    if re.fullmatch(r"[0-9]{6}[-+A-FU-Y][0-9]{3}[0-9A-Y]", text) is None:
        return False
    return text[-1] == "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(text[:6] + text[7:10]) % 31]


def is_french_nir(text: str) -> bool:
    """NIR: 13 digits and a key, 97 minus the remainder modulo 97."""
    plain = re.sub(r"\s", "", text).replace("2A", "19").replace("2B", "18")
    return re.fullmatch(r"[1-478][0-9]{14}", plain) is not None and 97 - int(plain[:13]) % 97 == int(plain[13:])


def is_dutch_bsn(text: str) -> bool:
    """BSN: nine digits, weighted sum divisible by 11."""
    digits = digits_of(text, 9)
    return digits is not None and any(digits) and weighted(digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def is_belgian_number(text: str) -> bool:
    """National number: 11 digits, 97 minus the remainder modulo 97."""
    digits = digits_of(text, 11)
    if digits is None:
        return False
    plain = "".join(map(str, digits))
    return any(97 - int(century + plain[:9]) % 97 == int(plain[9:]) for century in ("", "2"))


def is_italian_code(text: str) -> bool:
    """Codice fiscale: 16 characters, the last one a check letter."""
    plain = text.upper()
    if re.fullmatch(r"[A-Z]{6}[0-9]{2}[A-EHLMPRST][0-9]{2}[A-Z][0-9]{3}[A-Z]", plain) is None:
        return False
    odd_values = dict(zip("0123456789", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True))
    letters = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    odd_values |= dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", letters, strict=True))
    even_values = [int(sign) if sign.isdigit() else ord(sign) - 65 for sign in plain[1:15:2]]
    return (sum(odd_values[sign] for sign in plain[0:15:2]) + sum(even_values)) % 26 == ord(plain[15]) - 65


def is_spanish_dni(text: str) -> bool:
    """DNI or NIE: seven or eight digits and a check letter modulo 23."""
    plain = text.upper().replace("-", "")
    if re.fullmatch(r"[XYZ0-9][0-9]{7}[A-Z]", plain) is None:
        return False
    return plain[-1] == "TRWAGMYFPDXBNJZSQVHLCKE"[int(plain[:8].translate(str.maketrans("XYZ", "012"))) % 23]


def is_polish_pesel(text: str) -> bool:
    """PESEL: 11 digits with a date of birth, check digit modulo 10."""
    digits = digits_of(text, 11)
    if digits is None or not is_day(2000, (digits[2] * 10 + digits[3]) % 20, digits[4] * 10 + digits[5]):
        return False
    return weighted(digits, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def is_brazilian_cpf(text: str) -> bool:
    """CPF: 11 digits, two of them check digits modulo 11."""
    digits = digits_of(text, 11)
    if digits is None or len(set(digits)) == 1:
        return False
    return all(weighted(digits, range(n + 1, 1, -1)) * 10 % 11 % 10 == digits[n] for n in (9, 10))


def is_canadian_sin(text: str) -> bool:
    """Social insurance number: nine digits, Luhn."""
    digits = digits_of(text, 9)
    return digits is not None and passes_luhn(digits)


# Name, test, and whether letters or fixed characters make the form so specific that a few values suffice.
NATIONAL_NUMBERS: tuple[tuple[str, Callable[[str], bool], bool], ...] = (
    ("US social security numbers", is_us_ssn, True),
    ("Swiss AHV numbers", is_swiss_ahv, True),
    ("German health insurance numbers", is_german_health_number, True),
    ("German pension insurance numbers", is_german_pension_number, True),
    ("UK national insurance numbers", is_uk_nino, True),
    ("Finnish identity codes", is_finnish_hetu, True),
    ("Italian tax codes", is_italian_code, True),
    ("Spanish identity numbers", is_spanish_dni, True),
    ("Danish CPR numbers", is_danish_cpr, True),
    ("French social security numbers", is_french_nir, False),
    ("Polish PESEL numbers", is_polish_pesel, False),
    ("Norwegian identity numbers", is_norwegian_number, False),
    ("Belgian national numbers", is_belgian_number, False),
    ("Brazilian CPF numbers", is_brazilian_cpf, False),
    ("German tax ids", is_german_tax_id, False),
    ("Swedish personal numbers", is_swedish_personnummer, False),
    ("UK NHS numbers", is_uk_nhs, False),
    ("Dutch BSN numbers", is_dutch_bsn, False),
    ("Canadian social insurance numbers", is_canadian_sin, False),
)
