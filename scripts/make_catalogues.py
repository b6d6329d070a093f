"""Bring the gettext catalogues of the web app up to date with the texts of its pages.

python scripts/make_catalogues.py           write src/shoal/web/locale/*.po anew; translations stay
python scripts/make_catalogues.py --check   only say what is not translated; exit 1 if there is something

A new language: add its code to LANGUAGES in web/pages/parts/language.py, run this script, and fill in the new file.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

from shoal.web.pages.parts.language import LANGUAGES, parse_catalogue

WEB = Path(__file__).parents[1] / "src" / "shoal" / "web"
# The functions that translate, with the places of the texts among their arguments.
TRANSLATING = {"_": (0,), "N_": (0,), "plural": (1, 2)}


def texts() -> dict[str, list[str]]:
    """Return every text of the pages, with the files that contain it, in the order of the source."""
    found: dict[str, list[str]] = {}
    for path in sorted((WEB / "pages").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TRANSLATING:
                for place in TRANSLATING[node.func.id]:
                    argument = node.args[place] if place < len(node.args) else None
                    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                        files = found.setdefault(argument.value, [])
                        files += [path.name] if path.name not in files else []
    return found


def written(language: str, known: dict[str, str]) -> str:
    """Return the catalogue of a language with all texts."""
    lines = ['msgid ""', 'msgstr ""', f'"Language: {language}\\n"', '"Content-Type: text/plain; charset=UTF-8\\n"', ""]
    for text, files in texts().items():
        lines += [f"#: {' '.join(files)}", f"msgid {quoted(text)}", f"msgstr {quoted(known.get(text, ''))}", ""]
    return "\n".join(lines)


def quoted(text: str) -> str:
    """Return a text as a string of a .po file."""
    return json.dumps(text, ensure_ascii=False)


def main() -> None:
    """Write or check the catalogue of each language."""
    missing = 0
    for language in LANGUAGES:
        if language == "en":
            continue
        path = WEB / "locale" / f"{language}.po"
        known = parse_catalogue(path.read_text(encoding="utf-8")) if path.exists() else {}
        if "--check" not in sys.argv:
            path.write_text(written(language, known), encoding="utf-8")
        for text in texts():
            if text not in known:
                missing += 1
                print(f"{path.name}: not translated: {text}")
    if missing:
        sys.exit(1)


if __name__ == "__main__":
    main()
