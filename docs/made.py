"""The pages of the site that are made from the code: one a method, the data sets, the reference."""

import ast
import importlib
import re
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path

import rmix
from rmix.datasets import DATASETS
from rmix.methods import METHODS, Method
from rmix.methods.cards import card, markdown_table, meanings
from rmix.methods.space import Choice

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
CARDED = (*METHODS.values(), *DATASETS.values())  # shown by their cards, not in the reference
MODULES = {
    "rmix": "What most programs need. `ERM`, `RMix` and `RMixAware` have [pages of their own](../methods/index.md).",
    "rmix.methods": "A method is a frozen dataclass; each published one has [its page](../methods/index.md).",
    "rmix.recipe": "The five slots of a method, and the one step.",
    "rmix.samplers": "Which rows make a batch.",
    "rmix.weightings": "How much each row counts.",
    "rmix.mixers": "What is blended, and with whom.",
    "rmix.losses": "How wrong a prediction is.",
    "rmix.reductions": "How losses become one number.",
    "rmix.datasets": "Data of memory and disk; each data set is described in [Data sets](../datasets.md).",
    "rmix.models": "Networks with `features` and a `head`.",
    "rmix.estimator": "The door for scikit-learn.",
    "rmix.loop": "The door for your own loop.",
    "rmix.integrations.hugging_face": "The door for Hugging Face.",
    "rmix.integrations.lightning": "The door for Lightning.",
    "rmix.experiment.config": "Settings of a run.",
    "rmix.studies": "Many runs.",
    "rmix.reports": "What runs say.",
    "rmix.streams": "Randomness with a name.",
    "rmix.theory": "The paper's theory, in numbers.",
    "rmix.testing": "The contracts that methods, parts, models and data sets sign.",
    "rmix.errors": "What is raised.",
}


def method_page(cls: type[Method]) -> str:
    """The card of a method, its settings, and what it reached here."""
    text = card(cls)
    parts = [
        f"# {cls.name}\n\n**{text['summary']}**\n\n{text['Idea']}",
        "\n".join(f"- **{name}.** {text[name]}" for name in ("Sees", "Cost", "Paper")),
        f'```python\nimport rmix\n\nrun = rmix.train("moons", "{cls.name}", seed=0)\n```',
        f"```console\nrmix train moons {cls.name} --seed 0\n```",
        _settings(cls),
        f"## Deviations from the paper\n\n{text['Deviations']}",
        f"## Numbers\n\n{text['Reference numbers']}",
        _reached(cls.name),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _settings(cls: type[Method]) -> str:
    told = meanings(cls)
    if not fields(cls):
        return "It has no settings."
    rows = [
        f"| `{f.name}` | `{f.default!r}` | {_cell(told.get(f.name, ''))} | {_tried(cls, f.name)} |" for f in fields(cls)
    ]
    head = "## Settings\n\n| setting | default | what it is | tried by `rmix tune` |\n|---|---|---|---|"
    same = ", ".join(f"`{name}={value!r}`" for name, value in (cls.erm_limit or {}).items())
    return "\n".join([head, *rows]) + (f"\n\nWith {same} it is ERM, bit for bit." if same else "")


def _tried(cls: type[Method], name: str) -> str:
    space = cls.space.get(name)
    if space is None:
        return ""
    if isinstance(space, Choice):
        return ", ".join(map(str, space.options))
    return f"{space.low:g} to {space.high:g}" + (", log" if space.log else "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _reached(name: str) -> str:
    """The rows of a method in the tables of the benchmarks."""
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    lines = page.split("<!-- embedded -->")[1].split("<!-- /embedded -->")[0].splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("| Data set | Method |"))
    rows = [line for line in lines if re.match(rf"\| (moons|digits) \| {name} \|", line)]
    about = "On the two small sets that ship with rmix, as the [benchmarks](../benchmarks.md) say:"
    return "\n".join([f"{about}\n", *lines[head : head + 2], *rows]) if rows else ""


def methods_page() -> str:
    """The table of methods, each with a link to its page."""
    table = re.sub(r"^\| `(\w+)`", r"| [`\1`](\1.md)", markdown_table(METHODS.values()), flags=re.MULTILINE)
    return (
        "# Methods\n\nEvery published method is one file and one frozen dataclass of numbers; its page is made from "
        "its docstring. [Choosing a method](../choosing.md) says which to try first.\n\n" + table
    )


def datasets_page() -> str:
    """The card of every data set."""
    parts = ["# Data sets\n\n`rmix datasets` lists them, `rmix data describe NAME` adds the rows of each group."]
    for name, cls in DATASETS.items():
        text = card(cls)
        facts = "\n".join(f"- **{section}.** {text[section]}" for section in text if section != "summary")
        parts.append(f"## {name}\n\n{text['summary']}\n\n{facts}")
    return "\n\n".join(parts) + "\n"


def deviations() -> str:
    """What each method's card says of its deviations."""
    cards = {f"[`{name}`](methods/{name}.md)": card(cls) for name, cls in METHODS.items()}
    none = [link for link, text in cards.items() if text["Deviations"] == "None."]
    parts = [
        f"### {link}\n\n{text['Paper']}\n\n{text['Deviations']}" for link, text in cards.items() if link not in none
    ]
    return "\n\n".join([f"No deviation is known of {', '.join(none)}.", *parts])


def examples_page() -> str:
    """The examples, with their first line as a heading."""
    parts = [(ROOT / "examples" / "README.md").read_text()]
    for path in EXAMPLES:
        code = path.read_text()
        title = (ast.get_docstring(ast.parse(code)) or "").partition("\n")[0].rstrip(".")
        parts.append(f"## {path.stem}\n\n{title}.\n\n```python\n{code}```")
    return "\n\n".join(parts) + "\n"


def reference_page(module: str) -> str:
    """The public names of a module, from their docstrings."""
    about = [MODULES[module]] if "](" in MODULES[module] else []  # else the docstring says it
    if top := [f"`{name}`" for name in offered(module) if module != "rmix" and name in rmix.__all__]:
        about.append(f"On the page of [rmix](rmix.md): {', '.join(top)}.")
    shown = [name for name in offered(module) if module == "rmix" or name not in rmix.__all__]
    members = "".join(f"        - {name}\n" for name in shown)
    return (
        f"# {module}\n\n{' '.join(about)}\n\n::: {module}\n    options:\n      show_root_heading: false\n"
        f"      show_root_toc_entry: false\n      inherited_members: {module == 'rmix'}\n      members:\n{members}"
    )


def offered(module: str) -> list[str]:
    """The names of a module that have no card."""
    found = importlib.import_module(module)
    own = [name for name, value in vars(found).items() if getattr(value, "__module__", None) == module]
    names = getattr(found, "__all__", own)
    return [name for name in names if name[0] != "_" and len(name) > 1 and getattr(found, name) not in CARDED]


def reference_index() -> str:
    """The modules, each in a line."""
    lines = [f"- [`{module}`]({module}.md): {text}" for module, text in MODULES.items()]
    return "# Reference\n\n" + "\n".join(lines) + "\n"


def copied(path: str) -> str:
    """A page that lies outside docs/."""
    return (ROOT / path).read_text()


MADE: dict[str, Callable[[], str]] = {
    "methods/index.md": methods_page,
    **{f"methods/{name}.md": partial(method_page, cls) for name, cls in METHODS.items()},
    "datasets.md": datasets_page,
    "reference/index.md": reference_index,
    **{f"reference/{module}.md": partial(reference_page, module) for module in MODULES},
    "examples.md": examples_page,
    "contributing.md": partial(copied, "CONTRIBUTING.md"),
    "changelog.md": partial(copied, "CHANGELOG.md"),
}
COPIED = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md", "examples.md": "examples/README.md"}
FILES = {
    "README.md#methods": "methods/index.md",
    **{path: page for page, path in COPIED.items()},
    **{f"examples/{path.name}": f"examples.md#{path.stem}" for path in EXAMPLES},
}
CARDS = {  # the first method of a file
    f"src/{cls.__module__.replace('.', '/')}.py": f"methods/{name}.md" for name, cls in reversed(METHODS.items())
}
