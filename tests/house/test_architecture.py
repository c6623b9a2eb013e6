"""Rules of the house that a linter cannot say."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rmix

ROOT = Path(rmix.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
NOUNS = {"batch", "errors", "joined", "lock", "streams", "recipe", "_version"}
PARTS = {"mixers", "weightings", "losses", "reductions", "samplers"}
# what each package may import, besides itself and the nouns
ARROWS = {
    **dict.fromkeys(sorted(PARTS), PARTS),
    "methods": PARTS,
    "metrics": set(),
    "models": {"datasets"},  # what a model does to data before it takes them
    "datasets": {"metrics"},
    "training": {"datasets", "models", "metrics", "methods", "samplers", "mixers", "weightings"},
    "experiment": PARTS | {"methods", "datasets", "models", "metrics", "training"},
    "studies": PARTS | {"methods", "datasets", "models", "metrics", "training", "experiment", "reports"},
    "reports": {"experiment", "metrics", "methods", "datasets"},
    "theory": PARTS | {"methods", "datasets", "models", "metrics", "training", "experiment", "reports"},
    "tracking": {"training", "metrics"},
    "loop": PARTS | {"methods", "datasets", "metrics", "training"},
    "estimator": PARTS | {"methods", "datasets", "models", "metrics", "training", "experiment", "reports"},
    "integrations": PARTS | {"methods", "datasets", "models", "metrics", "training", "loop"},
}
DOORS = {"cli", "testing", "theory", "studies", "loop", "estimator", "integrations", "tracking"}
OUTSIDE_THE_CORE = PARTS | DOORS | {"methods", "datasets", "models", "reports"}


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Packages of rmix that a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rmix."):
            found.add(node.module.split(".")[1])
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[1] for name in node.names if name.name.startswith("rmix.")}
    return found


def functions(path: Path) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]


def body_length(function: ast.FunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("package", sorted(ARROWS))
def test_imports_point_one_way(package):
    allowed = ARROWS[package] | NOUNS | {package}
    wrong = {str(p.relative_to(ROOT)): imported(p) - allowed for p in FILES if package_of(p) == package}
    assert {name: extra for name, extra in wrong.items() if extra} == {}


def test_nouns_import_only_nouns():
    wrong = {p.name: imported(p) - NOUNS for p in FILES if package_of(p) in NOUNS}
    assert {name: extra for name, extra in wrong.items() if extra} == {}


def lines_without_docstrings(path: Path) -> int:
    """Lines that are neither blank nor of a docstring."""
    text = path.read_text()
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)]
    documented = [n.body[0] for n in nodes if ast.get_docstring(n)]
    of_docstrings = {line for node in documented for line in range(node.lineno, node.end_lineno + 1)}
    return sum(bool(line.strip()) and i not in of_docstrings for i, line in enumerate(text.splitlines(), 1))


def test_the_core_is_readable_in_one_evening():
    lines = sum(lines_without_docstrings(p) for p in FILES if package_of(p) not in OUTSIDE_THE_CORE)
    assert lines < 1500, lines


def test_there_is_a_line_of_test_for_a_line_of_code():
    """The contracts that outsiders sign, too, are tests."""
    contracts = {p for p in FILES if package_of(p) == "testing"}
    tested = sum(map(lines_without_docstrings, set(FILES) - contracts))
    tests = sum(map(lines_without_docstrings, [*contracts, *Path(__file__).parents[1].rglob("*.py")]))
    assert tests >= tested


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_and_functions_are_small(path):
    assert len(path.read_text().splitlines()) <= 400
    assert {f.name: body_length(f) for f in functions(path) if body_length(f) > 40} == {}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_global_randomness_and_no_unsafe_load(path):
    if path == ROOT / "testing" / "generators.py":
        return  # moves the global generators on purpose, to see that nothing reads them
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    names = [ast.unparse(call.func) for call in calls]
    pattern = r"(np|numpy)\.random\.(?!default_rng|Generator)\w+|torch\.(manual_seed|seed)|random\.\w+"
    assert [name for name in names if re.fullmatch(pattern, name)] == []
    loads = [ast.unparse(call) for call in calls if ast.unparse(call.func) in ("torch.load", "pickle.load", "np.load")]
    assert [load for load in loads if "weights_only=True" not in load] == []


def test_no_dumping_grounds():
    assert [p.name for p in FILES if p.stem in {"utils", "misc", "common", "helpers"}] == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_public_names_are_documented(path):
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), "the module"
    public = [
        node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    assert [node.name for node in public if not ast.get_docstring(node)] == []


def run_fresh(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "code", ["import rmix", "import rmix.cli; rmix.cli.main(['--help'])", "import rmix.cli; rmix.cli.main(['nothing'])"]
)
def test_import_and_help_load_nothing_heavy(code):
    heavy = ("torch", "matplotlib", "sklearn", "numpy", "rich", "tyro")
    out = run_fresh(f"{code}\nimport sys\nprint([m for m in {heavy} if m in sys.modules])")
    assert out.splitlines()[-1] == "[]"
