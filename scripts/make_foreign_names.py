"""Writes the tables of names into docs/guide/coming-from-pytorch.md.

python scripts/make_foreign_names.py          writes the page
python scripts/make_foreign_names.py --check  exits with 1 if the page is not up to date
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from chainer.core.foreign_names import ATTRIBUTES, KEYWORDS, NAMES  # noqa: E402

PAGE = ROOT / "docs" / "guide" / "coming-from-pytorch.md"
_BEGIN = "<!-- names: written by scripts/make_foreign_names.py -->\n"
_END = "<!-- end of names -->"

#: What texts of the table say as code: names with a dot, calls, arguments.
_CODE = re.compile(
    r"-?\b[A-Za-z_]+(?:\.[A-Za-z_0-9]+)+(?:\((?:[^()]|\([^()]*\))*\))?"
    r"|\b[A-Za-z_0-9]+\((?:[^()]|\([^()]*\))*\)"
)


def _as_code(text: str) -> str:
    """Returns a text with backticks around the code in it."""
    return _CODE.sub(lambda match: f"`{match[0]}`", text)


def tables() -> str:
    """Returns the tables as Markdown."""
    lines: list[str] = []
    for registry, names in NAMES.items():
        title = registry.replace("_", " ").capitalize()
        lines += [f"### {title}", "", "| PyTorch or Keras | Chainer |", "|---|---|"]
        lines += [f"| `{theirs}` | {_as_code(ours)} |" for theirs, ours in sorted(names.items())]
        lines.append("")
    for owner, names in ATTRIBUTES.items():
        lines += [f"### Attributes of {owner}", "", "| PyTorch or Keras | Chainer |", "|---|---|"]
        lines += [f"| `{theirs}` | {_as_code(ours)} |" for theirs, ours in sorted(names.items())]
        lines.append("")
    lines += ["### Keyword arguments", "", "| PyTorch or Keras | Chainer |", "|---|---|"]
    for theirs, ours in sorted(KEYWORDS.items()):
        texts = [_as_code(text) if " " in text else f"`{text}=`" for text in ours]
        lines.append(f"| `{theirs}=` | {' or '.join(texts)} |")
    return "\n".join(lines) + "\n"


def page() -> str:
    """Returns the page with the tables of today."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{tables()}\n{_END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    text = page()
    if text == PAGE.read_text(encoding="utf-8"):
        return
    if arguments.check:
        sys.exit(f"{PAGE} is not up to date: python scripts/make_foreign_names.py")
    PAGE.write_text(text, encoding="utf-8")
    print(f"written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
