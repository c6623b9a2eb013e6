"""The code of a page: what a reader would type, in order."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```(\w*)\n(.*?)```", flags=re.DOTALL)
FILE = re.compile(r"# (\w+\.\w+)\n")


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of one language."""
    return [code for spoken, code in BLOCK.findall(page.read_text()) if spoken == language]


def before(diff: str) -> str:
    """The code that a diff starts from."""
    return "".join(line[1:] for line in diff.splitlines(keepends=True) if line[0] in " -")


def after(diff: str) -> str:
    """The code that a diff leads to."""
    return "".join(line[1:] for line in diff.splitlines(keepends=True) if line[0] in " +")


def code_of(page: Path) -> str:
    """All Python of a page but its files; of a diff, what it leads to."""
    made = {"python": str, "diff": after}
    found = [(made[language], code) for language, code in BLOCK.findall(page.read_text()) if language in made]
    return "\n".join(make(code) for make, code in found if not FILE.match(code))


def files_of(page: Path, folder: Path) -> None:
    """Write the blocks of a page that are files: their first line is a comment with the name."""
    for _, code in BLOCK.findall(page.read_text()):
        named = FILE.match(code)
        if named:
            (folder / named[1]).write_text(code)


def commands_of(page: Path, language: str) -> list[str]:
    """The lines of all blocks of one language."""
    return [line for code in blocks(page, language) for line in code.splitlines()]


# Lightning's own code, with a newer torch
LEAF_SPEC = "ignore:`isinstance(treespec, LeafSpec)` is deprecated:FutureWarning"


def said_by(code: str | Path, folder: Path | None = None) -> str:
    """What code, or a file, prints in a process of its own, of one thread, where warnings are errors."""
    what = [str(code)] if isinstance(code, Path) else ["-c", code]
    command, alone = [sys.executable, "-W", "error", "-W", LEAF_SPEC, *what], {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=alone, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
