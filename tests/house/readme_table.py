"""The generated part of the README: `python tests/house/readme_table.py --write` puts it in."""

import sys
from pathlib import Path

from rmix.methods import METHODS
from rmix.methods.cards import markdown_table

README = Path(__file__).parents[2] / "README.md"
START, END = "<!-- methods -->\n", "<!-- /methods -->"


def with_table(text: str) -> str:
    """The README with the table of methods made anew."""
    before, rest = text.split(START)
    return before + START + markdown_table(METHODS.values()) + END + rest.split(END)[1]


if __name__ == "__main__" and "--write" in sys.argv:
    README.write_text(with_table(README.read_text()))
