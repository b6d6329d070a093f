"""Make the fixtures of the 18 Safe Harbor kinds: invented values, the same on every machine. Run: python make.py

Numbers are of ranges that are given to nobody where there is such a range (555-01xx, 9xx-xx, example.org, TEST-NET).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parent
N_ROWS = 40
FIRST = ("Anna", "James", "Maria", "Peter", "Laura", "Ahmed", "Julia", "Carlos", "Sophie", "David")
LAST = ("Harwell", "Loxley", "Brandt", "Okafor", "Moreau", "Silva", "Kowalski", "Nyberg", "Ferrari", "Tanaka")
STREETS = ("Mill Lane", "Oak Street", "Hill Road", "Station Road")
CITIES = ("Springfield", "Riverton", "Lakeside", "Fairview", "Milton")
COUNTIES = ("Adams", "Baker", "Clark")
Row = tuple[object, ...]


def vin(draw: random.Random) -> str:
    signs = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789"
    value = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", "12345678123457923456789", strict=True))
    text = "".join(draw.choice(signs) for _ in range(17))
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    total = sum(int(value.get(sign, sign)) * weight for sign, weight in zip(text, weights, strict=True))
    return text[:8] + "0123456789X"[total % 11] + text[9:]


def digits(draw: random.Random, n: int) -> str:
    return "".join(draw.choice("0123456789") for _ in range(n))


def hexadecimal(draw: random.Random, n: int) -> str:
    return "".join(draw.choice("0123456789abcdef") for _ in range(n))


def day(draw: random.Random, low: int, high: int) -> str:
    return f"{draw.randint(low, high)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"


KINDS: dict[str, tuple[tuple[str, ...], Callable[[random.Random, int], Row]]] = {
    "01-names": (("name",), lambda d, i: (f"{d.choice(FIRST)} {d.choice(LAST)}",)),
    "02-geography": (
        ("street", "city", "county", "zip"),
        lambda d, i: (
            d.choice(STREETS),
            d.choice(CITIES),
            d.choice(COUNTIES),
            f"0{d.choice((2138, 2139, 1002, 1841))}",
        ),
    ),
    "03-dates": (
        ("birth_date", "admission", "discharge", "death_date"),
        lambda d, i: (
            day(d, 1930, 2005),
            f"{d.randint(13, 28)}.{d.randint(1, 12):02d}.2024",
            f"{d.randint(1, 12)}/{d.randint(13, 28)}/2024",
            day(d, 2020, 2024) if i % 4 == 0 else "",
        ),
    ),
    "04-phone": (("phone",), lambda d, i: (f"(617) 555-01{i:02d}",)),
    "05-fax": (("fax",), lambda d, i: (f"+1 617 555 01{i:02d}",)),
    "06-email": (("contact",), lambda d, i: (f"{d.choice(FIRST).lower()}{i}@example.org",)),
    "07-ssn": (("tax_file",), lambda d, i: (f"9{d.randint(10, 99)}-{d.randint(10, 99)}-{digits(d, 4)}",)),
    "08-medical-record": (("mrn",), lambda d, i: (f"{d.randint(100000, 999999)}",)),
    "09-health-plan": (("beneficiary_no",), lambda d, i: (f"HP{digits(d, 3)}-{digits(d, 6)}",)),
    "10-account": (("account_number",), lambda d, i: (digits(d, 10),)),
    "11-licence": (("license_no",), lambda d, i: (f"S{digits(d, 8)}",)),
    "12-vehicle": (("vehicle", "plate"), lambda d, i: (vin(d), f"{d.choice('ABC')}XT-{digits(d, 4)}")),
    "13-device": (
        ("pump_serial", "sensor"),
        lambda d, i: (f"SN{digits(d, 7)}", ":".join(hexadecimal(d, 2) for _ in range(6))),
    ),
    "14-url": (("page", "profile"), lambda d, i: (f"https://example.org/~{hexadecimal(d, 6)}", f"www.example.com/{i}")),
    "15-ip": (("seen_from", "v6"), lambda d, i: (f"192.0.2.{i + 1}", f"2001:db8::{hexadecimal(d, 4)}")),
    "16-biometric": (
        ("fingerprint", "voice"),
        lambda d, i: (hexadecimal(d, 64), f"rec-{digits(d, 4)}.wav"),
    ),
    "17-photo": (("scan",), lambda d, i: (f"face_{digits(d, 5)}.jpg",)),
    "18-other-code": (("study", "tag"), lambda d, i: (f"Q{digits(d, 3)}-{hexadecimal(d, 5)}", d.randint(10**6, 10**7))),
}


def content(kind: str) -> str:
    """Return the fixture of one kind: its columns, and age and sex beside them."""
    columns, make = KINDS[kind]
    draw = random.Random(kind)
    lines = [",".join((*columns, "age", "sex"))]
    for i in range(N_ROWS):
        lines.append(",".join(map(str, (*make(draw, i), draw.randint(20, 60), draw.choice("FM")))))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    for name in KINDS:
        (FOLDER / f"{name}.csv").write_text(content(name))
