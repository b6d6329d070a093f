"""Write the table of docs/reference/config.md from the table of settings; --check reports whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

from shoal.settings.fields import Field, Form, Place
from shoal.settings.settings import FIELDS

PATH = Path(__file__).parents[1] / "docs" / "reference" / "config.md"
START, END = "<!-- settings: made by scripts/make_config_reference.py -->\n", "<!-- end of settings -->\n"
VALUES = {
    Form.NUMBER: "0 to 1",
    Form.FLAG: "`true`, `false`",
    Form.TEXTS: "list of texts",
    Form.MODELS: "`[[models]]`",
    Form.RULES: "`[[rules]]`",
    Form.PAIRS: "table",
    Form.WEIGHTS: 'table, or `"auto"`',
}


def reference() -> str:
    """Return the page with its table made anew."""
    before, _, rest = PATH.read_text().partition(START)
    _, _, after = rest.partition(END)
    return before + START + settings_table() + END + after


def settings_table() -> str:
    """Return one row for each setting: key, value, meaning, option, keyword."""
    rows = ["| shoal.toml | value | meaning | option | Python |", "|---|---|---|---|---|"]
    for each in FIELDS:
        if each.place is not Place.NOWHERE:
            option = f"`{each.option}`" if each.option else ""
            keyword = f"`{each.keyword}`" if each.keyword else ""
            meaning = each.help.replace("|", "\\|").replace(" May be repeated.", "")
            rows.append(f"| {_key(each)} | {_value(each)} | {meaning} | {option} | {keyword} |")
    return "\n".join(rows) + "\n"


def _key(each: Field) -> str:
    if each.place is Place.ROLE:
        return f'`role = "{each.key}"` in `[columns.NAME]`'
    if each.place is Place.KIND:
        form = ", `format`" if each.form is Form.DATES else ""
        return f'`kind = "{each.key}"`{form} in `[columns.NAME]`'
    if each.place is Place.COLUMN:
        return f"`{each.key}` in `[columns.NAME]`"
    if each.place is Place.SIGNOFF:
        return "`[signoff]`"
    return f"`{each.key}`" if each.place is Place.TOP else f"`{each.key}` in `{each.place}`"


def _value(each: Field) -> str:
    if each.place in (Place.ROLE, Place.KIND):
        return ""
    if each.choices:
        return ", ".join(f'`"{choice}"`' for choice in each.choices)
    if each.place is Place.COLUMN:
        return {"accept_unique": "`true`, `false`", "grid": "number or text"}.get(each.key, "text")
    return VALUES.get(each.form, str(each.form))


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PATH.read_text() != reference())
    PATH.write_text(reference())
