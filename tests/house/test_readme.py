"""What the README says is generated, runs, and leads somewhere."""

import re
import subprocess
import sys

import pytest
from readme_table import README, with_table

ROOT = README.parent


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(), flags=re.DOTALL)


def test_the_table_of_methods_is_up_to_date():
    assert with_table(README.read_text()) == README.read_text(), "run `make fix`"


@pytest.mark.slow
def test_the_python_of_the_readme_runs():
    code = "\n".join(blocks("python"))
    said = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert re.search(r"average 0\.\d\d, worst group 0\.\d\d", said.stdout)


def test_links_lead_to_files():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        (page.name, link)
        for page in pages
        for link in re.findall(r"\]\(([^)#]+)", page.read_text())
        if not link.startswith("http") and not (page.parent / link).exists()
    ]
    assert broken == []


def test_commands_of_the_readme_exist():
    from rmix.cli import COMMANDS

    commands = re.findall(r"^rmix (\w+)", "\n".join(blocks("")), flags=re.MULTILINE)
    assert set(commands) <= set(COMMANDS)
    targets = re.findall(r"^make (\w+)", "\n".join(blocks("")), flags=re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert targets == ["demo", "test"]
    assert all(f"\n{target}:" in makefile for target in targets)
