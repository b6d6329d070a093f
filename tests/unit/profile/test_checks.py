"""Check digits, on the examples that the issuers of the numbers publish."""

from __future__ import annotations

import pytest

from shoal.profile import checks

VALID = {
    "is_us_ssn": "987-65-4320",
    "is_swiss_ahv": "756.9217.0769.85",
    "is_german_health_number": "A123456780",
    "is_german_pension_number": "15 070649 C 103",
    "is_uk_nino": "AB 12 34 56 C",
    "is_finnish_hetu": "131052-308T",
    "is_italian_code": "RSSMRA85T10A562S",
    "is_spanish_dni": "12345678Z",
    "is_danish_cpr": "070761-4285",
    "is_french_nir": "2 55 08 14 168 025 38",
    "is_polish_pesel": "44051401359",
    "is_norwegian_number": "15076500565",
    "is_belgian_number": "85.07.30-033.28",
    "is_brazilian_cpf": "529.982.247-25",
    "is_german_tax_id": "86095742719",
    "is_swedish_personnummer": "811228-9874",
    "is_uk_nhs": "943 476 5919",
    "is_dutch_bsn": "111222333",
    "is_canadian_sin": "046 454 286",
    "is_card": "4111 1111 1111 1111",
    "is_iban": "GB82 WEST 1234 5698 7654 32",
    "is_imei": "490154203237518",
    "is_vehicle": "1M8GDM9AXKP042788",
}
WITHOUT_CHECK_DIGIT = {"is_us_ssn", "is_uk_nino", "is_danish_cpr"}


@pytest.mark.parametrize("name", VALID)
def test_published_example_passes(name: str) -> None:
    assert getattr(checks, name)(VALID[name])


@pytest.mark.parametrize("name", sorted(set(VALID) - WITHOUT_CHECK_DIGIT))
def test_every_other_last_digit_fails(name: str) -> None:
    text = VALID[name]
    place = max(i for i, sign in enumerate(text) if sign.isdigit())
    others = [text[:place] + digit + text[place + 1 :] for digit in "0123456789" if digit != text[place]]
    assert not any(map(getattr(checks, name), others))


@pytest.mark.parametrize("name", VALID)
@pytest.mark.parametrize("text", ["", "x", "12", "0" * 40, "١٢٣٤٥٦٧٨٩", "-", "{}", "1" * 9 + "\n"])
def test_other_texts_fail_quietly(name: str, text: str) -> None:
    assert not getattr(checks, name)(text)


def test_every_national_number_has_an_example() -> None:
    assert {test.__name__ for _, test, _ in checks.NATIONAL_NUMBERS} <= set(VALID)
