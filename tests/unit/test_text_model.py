"""DistilBERT from a local folder; the folders here hold a tiny one with random weights."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from toys import bundle_of, split_of

import rmix
from rmix.datasets import Bundle
from rmix.datasets.texts import Texts
from rmix.errors import DataError, InvalidValueError
from rmix.experiment.plain import to_plain
from rmix.methods.cgd import chosen
from rmix.models import DistilBERT, embed
from rmix.models.text import FrozenDistilBERT
from rmix.models.tokens import Tokens
from rmix.streams import torch_stream
from rmix.testing import check_model
from rmix.training.optimize import make_optimizer
from rmix.training.settings import Training

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "##s", "a", ","]
TEXTS = ["A good film", "bad films, bad", "good", "", "unheard of a a a a a a a a a a a a"]


def make_folder(folder: Path, **changes: Any) -> Path:
    """A DistilBERT of two layers, with three classes, as transformers keeps it."""
    import transformers

    sizes = {"vocab_size": 10, "dim": 16, "n_heads": 2, "n_layers": 2, "hidden_dim": 32, "max_position_embeddings": 12}
    config = transformers.DistilBertConfig(**{**sizes, "num_labels": 3, **changes})
    with torch_stream(0, "folder"):
        model = transformers.DistilBertForSequenceClassification(config)
    folder.mkdir(exist_ok=True)
    model.config.to_json_file(folder / "config.json")
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("models") / "tiny")


def spec_of(folder: Path, **settings: Any) -> DistilBERT:
    return DistilBERT(str(folder), **{"max_length": 12, **settings})


def texts(strings: list[str] = TEXTS) -> Bundle:
    y = [row % 2 for row in range(len(strings))]
    return bundle_of(**dict.fromkeys(("train", "valid", "test"), split_of(y, group=y, x=Texts(strings))))


def test_texts_become_the_numbers_of_their_words(folder: Path) -> None:
    """By the order of WORDS: 2 begins and 3 ends a text, 1 is unknown; "films" is two tokens."""
    x = Tokens(tuple(TEXTS), folder, 8)
    short = x[torch.tensor([1, 3, 0])]
    assert short.shape == (3, 7, 2)
    assert short[0, :, 0].tolist() == [2, 5, 6, 7, 9, 5, 3]
    assert short[1].tolist() == [[2, 1], [3, 1], *[[0, 0]] * 5]
    assert short[2, :, 0].tolist() == [2, 8, 4, 6, 3, 0, 0]
    assert short[2, :, 1].tolist() == [1, 1, 1, 1, 1, 0, 0]
    assert x[torch.tensor([4])][0, :, 0].tolist() == [2, 1, 1, 8, 8, 8, 8, 3]  # cut, and ended all the same
    assert x.lengths.tolist() == [5, 7, 3, 2, 8]
    assert x.checksum != Tokens(tuple(TEXTS), folder, 9).checksum != Tokens(("good",), folder, 9).checksum


def test_case_is_kept_where_the_folder_says_so(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_bytes((folder / "vocab.txt").read_bytes())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    assert Tokens(("A good",), tmp_path, 8)[torch.tensor([0])][0, :, 0].tolist() == [2, 1, 4, 3]


def test_a_tokenizer_file_gives_the_same_numbers(folder: Path, tmp_path: Path) -> None:
    from tokenizers import BertWordPieceTokenizer

    BertWordPieceTokenizer(str(folder / "vocab.txt")).save(str(tmp_path / "tokenizer.json"))
    rows = torch.arange(len(TEXTS))
    assert torch.equal(Tokens(tuple(TEXTS), tmp_path, 8)[rows], Tokens(tuple(TEXTS), folder, 8)[rows])


def test_it_gives_the_logits_of_transformers(folder: Path) -> None:
    import transformers

    theirs = transformers.DistilBertForSequenceClassification(
        transformers.DistilBertConfig.from_json_file(folder / "config.json")
    ).eval()
    theirs.load_state_dict(torch.load(folder / "pytorch_model.bin", weights_only=True))
    x = spec_of(folder).prepare(texts()).train.x[torch.arange(5)]
    ours = spec_of(folder).build((), 3).eval()
    with torch.no_grad():
        wanted = theirs(input_ids=x[..., 0], attention_mask=x[..., 1]).logits
        assert torch.allclose(ours(x), wanted, atol=1e-6)
        short = spec_of(folder).prepare(texts()).train.x[torch.tensor([2])]
        assert torch.allclose(ours(short), wanted[2:3], atol=1e-6)  # padding is not read
    names = spec_of(folder).published_state(ours)
    assert {name: tuple(value.shape) for name, value in names.items()} == {
        name: tuple(value.shape) for name, value in theirs.state_dict().items()
    }


def test_a_new_number_of_classes_has_a_new_head_and_the_trained_body(folder: Path) -> None:
    three, two = (spec_of(folder).build((), n) for n in (3, 2))
    assert two.head.out_features == 2
    assert all(torch.equal(a, b) for a, b in zip(two.features.parameters(), three.features.parameters(), strict=True))


@pytest.mark.parametrize("head", ["pre_classifier", "linear"])
def test_it_keeps_the_contract_of_models(folder: Path, head: str) -> None:
    x = spec_of(folder).prepare(texts()).train.x[torch.arange(5)]
    check_model(spec_of(folder, head=head), x.shape[1:], n_classes=2, inputs=x)


def test_the_linear_head_is_one_layer_on_the_first_token(folder: Path) -> None:
    model = spec_of(folder, head="linear").build((), 2)
    assert (len(model.features), model.mix_points) == (1, (1,))
    assert spec_of(folder).build((), 2).mix_points == (1, 4)


def test_training_mixes_hidden_layers_and_not_words(folder: Path, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"model": spec_of(folder), "training": {"epochs": 1, "optimizer": "adamw", "lr": 1e-3}}
    method = {"name": "mixup", "mix": "manifold", "mix_prob": 1.0}
    run = rmix.train(texts(), method, store=tmp_path, **settings)
    assert run.result.test.rows == 5
    assert run.result.config["model"] == to_plain(spec_of(folder))
    assert "folder" not in run.result.config["model"]
    assert rmix.train(texts(), method, store=tmp_path, **settings).reused
    with pytest.raises(
        InvalidValueError, match=r"Mixing needs floating-point inputs, got torch.int64; .*--mix manifold"
    ):
        rmix.train(texts(), {**method, "mix": "mixup"}, **settings)


def test_biases_and_norms_are_not_decayed_as_published(folder: Path) -> None:
    model = spec_of(folder).build((), 2)
    decayed, spared = make_optimizer(model, Training(optimizer="adamw", weight_decay=0.3)).param_groups
    assert (decayed["weight_decay"], spared["weight_decay"]) == (0.3, 0.0)
    names = {id(p): name for name, p in model.named_parameters()}
    found = {names[id(p)] for p in spared["params"]}
    assert "features.pooled.model.embeddings.LayerNorm.weight" in found
    assert {"bias"} == {name.split(".")[-1] for name in found if "norm" not in name.lower()}
    assert "head.weight" in {names[id(p)] for p in decayed["params"]}
    assert len(decayed["params"]) + len(found) == len(names)
    model.undecayed = ()
    assert len(make_optimizer(model, Training()).param_groups) == 1


def test_cgd_compares_the_last_two_layers_and_the_head(tmp_path: Path) -> None:
    model = spec_of(make_folder(tmp_path / "deep", n_layers=4)).build((), 2)
    names = {id(p): name for name, p in model.named_parameters()}
    found = {names[id(p)].removeprefix("features.pooled.model.").split(".q_lin")[0] for p in chosen(model, model.last)}
    assert {"transformer.layer.2.attention", "transformer.layer.3.attention", "head.weight"} <= found
    assert not [name for name in found if name.startswith(("transformer.layer.1", "embeddings"))]


def test_features_of_the_first_token(folder: Path, tmp_path: Path) -> None:
    encoder = FrozenDistilBERT(str(folder), 12)
    found = embed(texts(), encoder, cache=tmp_path).train.x
    model = spec_of(folder, head="linear").build((), 2).eval()
    with torch.no_grad():
        wanted = model.features(spec_of(folder).prepare(texts()).train.x[torch.arange(5)])
    assert torch.allclose(found, wanted, atol=1e-6)


def test_the_path_is_not_part_of_a_run_but_the_files_are(folder: Path, tmp_path: Path) -> None:
    copy = make_folder(tmp_path / "copy")
    assert spec_of(copy) == spec_of(folder)
    assert spec_of(copy, max_length=8) != spec_of(folder)
    (copy / "README.md").write_text("not read")
    assert spec_of(copy).checksum == spec_of(folder).checksum
    (copy / "vocab.txt").write_text("\n".join(reversed(WORDS)))
    assert spec_of(copy).checksum != spec_of(folder).checksum


def test_what_is_no_folder_of_a_model(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"^distilbert is read from a local folder: --model.folder DIR"):
        DistilBERT().prepare(texts())
    with pytest.raises(InvalidValueError, match=r"local folder \(checksum 0123\)"):
        DistilBERT(checksum="0123").prepare(texts())
    with pytest.raises(DataError, match=r"is no folder of a model: there is no config.json\.$"):
        DistilBERT(str(tmp_path))
    with pytest.raises(InvalidValueError, match="max_length must be <= 12, the positions of"):
        spec_of(folder, max_length=13).build((), 2)
    with pytest.raises(InvalidValueError, match="max_length must be 3 to 512 tokens, got 2"):
        DistilBERT(max_length=2)
    with pytest.raises(DataError, match=r"^distilbert needs texts, got numbers of shape \(2,\)\.$"):
        spec_of(folder).prepare(bundle_of())
    (small := make_folder(tmp_path / "small") / "vocab.txt").write_text("\n".join([*WORDS, "more"]))
    with pytest.raises(InvalidValueError, match="has 11 words, but the model knows 10"):
        spec_of(small.parent).prepare(texts())
    small.unlink()
    with pytest.raises(DataError, match="There is no tokenizer in"):
        spec_of(small.parent).prepare(texts())


def test_transformers_is_loaded_by_its_models_only() -> None:
    code = "import rmix.experiment.run, sys; print([m for m in ('transformers', 'tokenizers') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
