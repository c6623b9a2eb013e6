"""The card of a method: its docstring, read as a summary and named sections."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

from rmix.methods.base import Method

SECTIONS = ("Paper", "Idea", "Sees", "Cost", "Deviations", "Reference numbers")
NOT_OF_THE_CARD = ("Args", "Example")
HEADING = re.compile(r"([A-Z][a-z]+(?: [a-z]+)?):(?: (.*))?$")


def card(cls: type) -> dict[str, str]:
    """The ``summary`` of a class and the sections of its docstring, each as one line of text.

    A section starts with its name and a colon; the lines below it that are indented belong to it.

    Example:
        >>> from rmix.methods import ERM
        >>> card(ERM)["Sees"]
        'No group labels.'
    """
    summary, *paragraphs = inspect.cleandoc(cls.__doc__ or "").split("\n\n")
    found = {"summary": " ".join(summary.split())}
    for line in "\n".join(paragraphs).splitlines():
        heading = HEADING.match(line)
        if heading:
            name = heading[1]
            found[name] = heading[2] or ""
        elif line.startswith(" ") and len(found) > 1:
            found[name] += " " + line.strip()
    return {name: text.strip() for name, text in found.items() if name not in NOT_OF_THE_CARD}


def meanings(cls: type) -> dict[str, str]:
    """What each setting of a class is: the lines below ``Args:`` of its docstring, by name.

    Example:
        >>> from rmix.methods import Focal
        >>> meanings(Focal)
        {'gamma': 'the power; 0 is ERM.'}
    """
    below = inspect.cleandoc(cls.__doc__ or "").partition("\nArgs:\n")[2].partition("\n\n")[0]
    joined = re.sub(r"\n {5,}", " ", below)  # a line that is indented further belongs to the one above
    return dict(re.findall(r"^ *(\w+): (.*)$", joined, flags=re.MULTILINE))


def markdown_table(methods: Iterable[type[Method]]) -> str:
    """A table of the cards, for the README: one row a method.

    Example:
        >>> from rmix.methods import ERM
        >>> print(markdown_table([ERM]).splitlines()[0])
        | name | in one line | sees | an update costs | paper |
    """
    rows = [("name", "in one line", "sees", "an update costs", "paper"), ("---",) * 5]
    for cls in methods:
        text = card(cls)
        rows.append((f"`{cls.name}`", text["summary"], text["Sees"], cost_in_short(text["Cost"]), text["Paper"]))
    return "".join(f"| {' | '.join(_cell(value) for value in row)} |\n" for row in rows)


def cost_in_short(cost: str) -> str:
    """What an update costs, in updates of ERM, and whether an ERM run comes first.

    Example:
        >>> cost_in_short("An ERM run first, then one pass a step. Measured: 1.1 of an ERM update.")
        '1.1 ERM, after an ERM run'
    """
    measured = re.search(r"Measured: ([\d.]+) of an ERM update", cost)
    return f"{measured[1] if measured else '1'} ERM" + (", after an ERM run" if "ERM run" in cost else "")


def _cell(text: str) -> str:
    return text.removesuffix(".").replace("|", "\\|")
