"""A model for others: the weights as another implementation reads them, a card that another library reads."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from test_reports_summary import made, ungrouped
from toys import SMALL_MOONS, small

from rmix.cli import main
from rmix.errors import InvalidValueError
from rmix.experiment.run import run_config
from rmix.methods import RMix
from rmix.reports.model_card import model_card
from rmix.reports.safetensors import TYPES, safetensors

CHOSEN = {"rule": "worst_group", "epoch": 4, "value": 0.5}
CONFIG = made().config | {"model": {"name": "mlp", "width": 4}}
RESULT = made(selected=CHOSEN, config=CONFIG, group_names=("big | <b>", "small"), environment={"rmix": "1.2"})


def test_bytes_by_hand() -> None:
    data = safetensors({"b": torch.tensor([[1.0], [-2.0]]), "a": torch.tensor(7)})
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    assert length % 8 == 0
    assert header["a"] == {"dtype": "I64", "shape": [], "data_offsets": [0, 8]}
    assert header["b"] == {"dtype": "F32", "shape": [2, 1], "data_offsets": [8, 16]}
    assert data[8 + length :].hex() == "0700000000000000" + "0000803f" + "000000c0"


def test_another_implementation_reads_every_type() -> None:
    theirs = pytest.importorskip("safetensors.torch")
    tensors = {name: torch.arange(6).view(2, 3).to(getattr(torch, name)) for name in TYPES}
    tensors |= {"transposed": torch.arange(6.0).view(2, 3).T, "empty": torch.zeros(0, 3), "view": torch.arange(9)[::3]}
    read = theirs.load(safetensors(tensors))
    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert read[name].dtype == tensor.dtype, name
        assert torch.equal(read[name], tensor), name


def test_a_type_that_the_format_lacks_is_named() -> None:
    with pytest.raises(InvalidValueError, match="w is of type complex64"):
        safetensors({"w": torch.zeros(1, dtype=torch.complex64)})


def test_the_card_says_groups_labels_and_limits() -> None:
    text = model_card(RESULT)
    assert "| big \\| &lt;b> | 30 | 10 | 90.0 | 59.6 to 98.2 |  |" in text
    assert "| small | 10 | 5 | 60.0 | 23.1 to 88.2 | worst |" in text
    assert "training rows were not read" in text
    assert "validation rows were read to choose the epoch (rule: worst_group)" in text
    assert "Epoch 5 was kept" in text
    assert "Fewer than 100 test rows" in text
    assert "searched for" not in text
    tuned = model_card(replace(RESULT, tuned={"trials": 20, "rule": "average"}))
    assert "The settings were searched for: best of 20 trials by average on validation." in tuned
    assert "| training.lr | 0.1 |" in text
    assert "| method | erm |" in text


def test_another_library_reads_the_metadata() -> None:
    hub = pytest.importorskip("huggingface_hub")
    data = hub.ModelCard(model_card(RESULT)).data
    assert data.library_name == "rmix"
    found = {one.metric_name: one.metric_value for one in data.eval_results}
    assert found == {
        "average accuracy": 0.8,
        "worst-group accuracy (small)": 0.6,
        "accuracy of group: big | <b>": 0.9,
        "accuracy of group: small": 0.6,
    }
    assert {one.task_type for one in data.eval_results} == {"tabular-classification"}


def test_a_card_without_groups() -> None:
    text = model_card(replace(ungrouped(), selected=CHOSEN, config=CONFIG))
    assert "60.0 % of 10 rows" in text
    assert "no groups" in text
    assert "worst-group" not in text


def test_a_failed_run_has_no_card() -> None:
    with pytest.raises(InvalidValueError, match="has no model"):
        model_card(made(correct=None))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("store")
    run_config(small(RMix(window=2)), store=root)
    run_config(small(), store=root)
    return root


def test_an_exported_model_predicts_the_same(store, tmp_path, monkeypatch, capsys):
    pytest.importorskip("safetensors")
    out = tmp_path / "made" / "here"
    assert main(["export", "moons-rmix", "--store", str(store), "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
        "result.json",
    ]
    (code,) = re.findall(r"```python\n(.*?)```", (out / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(out)
    names: dict[str, object] = {}
    exec(code, names)  # as the card says
    ours = run_config(small(RMix(window=2)), store=store)
    assert ours.reused
    x = SMALL_MOONS.load().test.x
    assert torch.equal(names["model"](x), ours.model(x))  # type: ignore[operator]


def test_nothing_is_written_over(store, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("precious")
    assert main(["export", "moons-rmix", "--store", str(store), "--out", str(tmp_path)]) == 2
    assert "is not empty; nothing was written" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_one_run_must_be_meant(store, tmp_path, capsys):
    assert main(["export", "moons", "--store", str(store), "--out", str(tmp_path / "out")]) == 2
    assert "'moons' must name one run, got 2: moons-erm-s0-" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
