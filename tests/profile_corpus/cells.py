"""Invented cells for the shapes of the corpus; README.md describes the shapes.

The same table, column and shape give the same cells. No cell is taken from a real table.
"""

from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable
from datetime import date, timedelta
from itertools import accumulate, pairwise

from shoal.profile import checks

__all__ = ["ROWS", "kind_of", "make_cells"]

ROWS = 300
SYLLABLES = [first + vowel for first in "bdfgklmnprst" for vowel in "aeo"]
FIRSTS = re.findall(
    r"\w+",
    "Anna Peter Maria Hans Julia Thomas Laura Michael Sofia David Elena Jan Claire Pierre Lucia Marco Emma Paul Nina "
    "Carlos Marta Piotr Helena Luis Ines Erik Karin Simon Clara Victor",
)
LASTS = ("mann", "berg", "son", "ini", "ez", "ski", "eau", "lund", "field", "ova", "er", "aert", "ado", "elli")
STREETS = {
    "street": "{n} {w} Street",
    "street2": "{n}XX {w} Ave",
    "strasse": "{w}straße {n}",
    "rue": "{n} rue {w}",
    "calle": "Calle {w}, {n}",
    "via": "Via {w} {n}",
    "straat": "{w}straat {n}",
    "straat2": "{w}straat",
    "rua": "Rua {w}",
    "ruapt": "Rua {w}, {n}",
    "ulica": "ul. {w} {n}",
}
POSTAL = {
    "zip": "#####",
    "plz": "#####",
    "cep": "#####-###",
    "ceppt": "####-###",
    "kodpl": "##-###",
    "postnl": "####AA",
}
CHECKED = {
    "nhs": ("##########", checks.is_uk_nhs),
    "bsn": ("#########", checks.is_dutch_bsn),
    "pesel": ("#######1###", checks.is_polish_pesel),
    "cpf": ("###########", checks.is_brazilian_cpf),
    "dni": ("########A", checks.is_spanish_dni),
    "kvnr": ("A#########", checks.is_german_health_number),
    "cf": ("AAAAAA##A##A###A", checks.is_italian_code),
}
RANGE = re.compile(r"([ifmdy])(-?\d+)-(\d+)")
KEY = re.compile(r"(key|hash16|hash|uuid|nhs|bsn|pesel|cpf|cf)(?::([^/]*))?(?:/(\d+))?")
LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"


def kind_of(shape: str) -> str:
    """Return the kind of the cells of a shape: numeric, date or categorical."""
    plain = shape.rstrip("@")
    if plain[0] == "d" and RANGE.fullmatch(plain):
        return "date"
    if RANGE.fullmatch(plain) or re.fullmatch(r"n\d+|yn|w|F|lat|lon|lonx|laty|row|mon|key(/\d+)?", plain):
        return "numeric"
    return "categorical"


def make_cells(table: str, column: str, shape: str, person: list[int]) -> list[str]:
    """Make the cells of a column.

    Args:
        table: Name of the table.
        column: Name of the column.
        shape: Shape of the cells; with a final @, all rows of a person have the same cell.
        person: The number of the person of each row.
    """
    draw = random.Random(f"{table}/{column}/{shape}")
    if shape == "row":
        return [str(i + 1) for i in range(ROWS)]
    if shape.endswith("@"):
        by_person: dict[int, str] = {}
        maker = _maker(draw, shape[:-1])
        for number in person:
            if number not in by_person:
                by_person[number] = maker()
        return [by_person[number] for number in person]
    if (found := KEY.fullmatch(shape)) is not None:
        repeats = int(found[3] or 1)
        numbers = person if repeats > 1 and len(set(person)) == -(-ROWS // repeats) else runs(draw, repeats)
        makes = dict(zip(sorted(set(numbers)), _keys(draw, found[1], found[2] or "", len(set(numbers))), strict=True))
        return [makes[number] for number in numbers]
    maker = _maker(draw, shape)
    return [maker() for _ in range(ROWS)]


def runs(draw: random.Random, mean: int) -> list[int]:
    """Divide the rows among people who have `mean` rows on average; the rows of a person stand together."""
    if mean == 1:
        return list(range(ROWS))
    n_people = -(-ROWS // mean)
    ends = [0, *sorted(draw.sample(range(1, ROWS), n_people - 1)), ROWS]
    return [number for number, (start, end) in enumerate(pairwise(ends)) for _ in range(start, end)]


def _keys(draw: random.Random, form: str, prefix: str, n: int) -> list[str]:
    keys: dict[str, None] = {}
    digits = draw.choice((6, 7, 8, 9))
    first, step = draw.choice(((1, 1), (1001, 1), (13, 9), (0, 0)))  # numbered in order, with gaps, or at random
    while len(keys) < n:
        if form == "key" and step:
            key = prefix + str(first + len(keys) * step)
        elif form == "key":
            key = prefix + str(draw.randrange(10 ** (digits - 1), 10**digits))
        elif form == "uuid":
            key = str(uuid.UUID(int=draw.getrandbits(128)))
        elif form.startswith("hash"):
            key = f"{draw.getrandbits(64 if form == 'hash16' else 256):0{16 if form == 'hash16' else 64}X}"
        else:
            key = _checked(draw, *CHECKED[form])
        keys[key] = None
    return list(keys)


def _checked(draw: random.Random, form: str, is_valid: Callable[[str], bool]) -> str:
    while True:
        text = _filled(draw, form)
        if form.startswith("AAAAAA"):
            text = text[:8] + draw.choice("ABCDEHLMPRST") + f"{draw.randint(10, 28)}" + text[11:]
        if is_valid(text):
            return text


def _filled(draw: random.Random, form: str) -> str:
    return "".join(draw.choice("0123456789") if s == "#" else draw.choice(LETTERS) if s == "A" else s for s in form)


def _word(draw: random.Random, low: int = 2, high: int = 4) -> str:
    return "".join(draw.choice(SYLLABLES) for _ in range(draw.randint(low, high))).capitalize()


def _maker(draw: random.Random, shape: str) -> Callable[[], str]:
    """Return a function that makes one cell after the other."""
    if found := RANGE.fullmatch(shape):
        return _ranges(draw, found[1], int(found[2]), int(found[3]))
    if found := re.fullmatch(r"([cCn])(\d+)", shape):
        return _choices(draw, found[1], int(found[2]))
    if shape in STREETS:
        return lambda: STREETS[shape].format(n=draw.randint(1, 300), w=_word(draw))
    if shape in POSTAL:
        pool = [_filled(draw, POSTAL[shape]) for _ in range(120)]
        return lambda: draw.choice(pool)
    if shape in CHECKED:
        return lambda: _checked(draw, *CHECKED[shape])
    if found := re.fullmatch(r"t(\d{4})", shape):
        return lambda: f"{_day(draw, int(found[1]), int(found[1]))} {_clock(draw)}:{draw.randint(0, 59):02d}"
    return {
        "key": lambda: str(draw.randrange(10**7, 10**8)),
        "yn": lambda: draw.choice("0001"),
        "const": lambda: "A1",
        "name": lambda: f"{draw.choice(FIRSTS)} {_surname(draw)}",
        "first": lambda: draw.choice(FIRSTS),
        "last": lambda: _surname(draw),
        "email": lambda: f"{_word(draw).lower()}{draw.randint(1, 999)}@example.org",
        "phone": lambda: _filled(draw, "0## #######"),
        "text": lambda: " ".join(_word(draw).lower() for _ in range(draw.randint(6, 14))),
        "F": lambda: f"{draw.gauss(3, 1):.6f}",
        "w": lambda: f"{draw.uniform(100, 9000):.4f}",
        "lat": lambda: f"{draw.uniform(35, 60):.6f}",
        "lon": lambda: f"{draw.uniform(-10, 20):.6f}",
        "latlon": lambda: f"[{draw.uniform(35, 60):.4f}, {draw.uniform(-10, 20):.4f}]",
        "lonx": lambda: f"{draw.uniform(280000, 900000):.4f}",
        "laty": lambda: f"{draw.uniform(5200000, 6100000):.4f}",
        "icd": lambda: f"{draw.choice('CEIJKMR')}{draw.randint(10, 29)}{draw.choice(('', '.1', '.9'))}",
        "mon": lambda: str(draw.randint(1, 12)),
        "ym": lambda: f"{draw.randint(2018, 2020)}-{draw.randint(1, 12):02d}",
        "hm": lambda: _clock(draw),
        "postuk": lambda: f"{draw.choice(('LS', 'M', 'B', 'SE'))}{draw.randint(1, 9)} {draw.randint(1, 9)}AB",
        "plate": lambda: _filled(draw, "AA## AAA"),
        "ssn": lambda: _filled(draw, "###-##-####"),
        "nir": lambda: _nir(draw),
        "iban": lambda: _iban(draw),
    }[shape]


def _ranges(draw: random.Random, form: str, low: int, high: int) -> Callable[[], str]:
    if form in "iy":
        return lambda: str(draw.randint(low, high))
    if form == "d":
        return lambda: str(_day(draw, low, high))
    if form == "f":
        return lambda: f"{draw.uniform(low, high):.1f}"
    return lambda: f"{low + (high - low) * draw.random() ** 3:.2f}"


def _choices(draw: random.Random, form: str, n: int) -> Callable[[], str]:
    if form == "n":
        values = [str(i + 1) for i in range(n)]
    elif n == 1:
        values = ["Y", ""]
    else:
        words = {_word(draw, 1 if n < 30 else 2): None for _ in range(3 * n)}
        values = list(words)[:n]
        if form == "C":
            values = [f"{value} {_word(draw).lower()}" for value in values]
    cumulated = list(accumulate(1 / (i + 2) for i in range(len(values))))
    return lambda: draw.choices(values, cum_weights=cumulated)[0]


def _surname(draw: random.Random) -> str:
    return _word(draw, 1, 2) + draw.choice(LASTS)


def _day(draw: random.Random, low: int, high: int) -> date:
    start = date(low, 1, 1)
    return start + timedelta(days=draw.randrange((date(high, 12, 31) - start).days + 1))


def _clock(draw: random.Random) -> str:
    return f"{draw.randint(0, 23):02d}:{draw.randint(0, 59):02d}"


def _nir(draw: random.Random) -> str:
    digits = draw.choice("12") + f"{draw.randint(40, 99)}{draw.randint(1, 12):02d}" + _filled(draw, "########")
    return digits + f"{97 - int(digits) % 97:02d}"


def _iban(draw: random.Random) -> str:
    account = _filled(draw, "##################")
    return f"DE{98 - int(account + '131400') % 97:02d}{account}"
