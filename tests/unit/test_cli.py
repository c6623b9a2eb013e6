"""The command line as a user types it."""

import json
import re
from pathlib import Path

import pytest

from rmix.cli import COMMANDS, main

FAST = ["--epochs", "2", "--first.epochs", "2", "--dataset.sizes", "40", "40", "4", "4", "--dataset.test-size", "20"]


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    out, err = capsys.readouterr()
    return code, out, err


def test_help_names_every_command(capsys):
    code, out, _ = said(capsys, "--help")
    assert code == 0
    assert all(f"  {name} " in out for name in COMMANDS)
    assert said(capsys)[1] == out


def test_version(capsys):
    assert re.fullmatch(r"rmix \d+\.\d+\.\d+\n", said(capsys, "--version")[1])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["trian"], "No command named 'trian'. Did you mean 'train'?"),
        (["train", "mons", "erm"], "No data set named 'mons'. Did you mean 'moons'?"),
        (["train", "moons", "rmx"], "No method named 'rmx'. Did you mean 'rmix'?"),
        (["train", "moons"], "Which method? Say: rmix train DATASET METHOD, or name it in --config."),
        (["train", "moons", "erm", "rmix"], "rmix train takes DATASET METHOD, got 'moons erm rmix'."),
        (["train", "moons", "erm", "--model", "mpl"], "No model named 'mpl'. Did you mean 'mlp'?"),
        (["train", "--config", "no.toml"], "There is no configuration file no.toml."),
        (["train", "--config", "tests"], "The configuration file tests cannot be read (Is a directory)."),
        (["methods", "rmixx"], "No method named 'rmixx'. Did you mean 'rmix'?"),
        (["datasets", "digit"], "No data set named 'digit'. Did you mean 'digits'?"),
    ],
)
def test_mistakes_get_one_sentence(capsys, words, sentence):
    code, out, err = said(capsys, *words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err


def test_a_mistyped_option_gets_a_suggestion(capsys, tmp_path):
    with pytest.raises(SystemExit) as stop:
        main(["train", "moons", "rmix", "--out", str(tmp_path), "--etta", "3"])
    shown = "".join(capsys.readouterr())
    assert stop.value.code == 2
    assert "--etta" in shown
    assert "--eta" in shown
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--alpha", "0", "alpha must be > 0 and finite, got 0.0"),
        ("--mix-prob", "1.5", "mix_prob (sigma) must be in [0, 1], got 1.5"),
        ("--threads", "0", "threads must be >= 1, got 0"),
        ("--lr", "-1", "lr must be > 0 and finite, got -1.0"),
        ("--mix", "cutmx", "invalid choice"),
    ],
)
def test_a_bad_value_of_an_option_is_shown(capsys, tmp_path, option, value, sentence):
    with pytest.raises(SystemExit) as stop:
        main(["train", "moons", "rmix", option, value, "--out", str(tmp_path / "out")])
    assert stop.value.code == 2
    shown = " ".join("".join(capsys.readouterr()).replace("│", " ").split())
    assert sentence in shown
    assert not (tmp_path / "out").exists()


def test_a_demo_of_no_seed(capsys, tmp_path):
    with pytest.raises(SystemExit) as stop:
        main(["demo", "--seeds", "0", "--out", str(tmp_path / "out")])
    assert stop.value.code == 2
    assert "seeds must be >= 1, got 0" in " ".join("".join(capsys.readouterr()).split())
    assert not (tmp_path / "out").exists()


def test_train_shows_groups_and_says_when_a_run_had_ended(capsys, tmp_path):
    words = ["train", "moons", "rmix", *FAST, "--out", str(tmp_path)]
    code, out, _ = said(capsys, *words)
    assert code == 0
    assert "right, opens down" in out
    assert "← worst" in out
    assert "Group labels were used for selection." in out
    assert "had ended before" not in out
    (run,) = (tmp_path / "runs").iterdir()
    assert json.loads((run / "result.json").read_text())["config"]["method"]["name"] == "rmix"
    code, again, _ = said(capsys, *words)
    assert code == 0
    assert "had ended before" in again


def test_a_second_setting_reuses_the_first_stage_and_says_so(capsys, tmp_path):
    words = ["train", "moons", "rmix", *FAST, "--out", str(tmp_path)]
    said(capsys, *words)
    _, out, _ = said(capsys, *words, "--eta", "3")
    assert "was trained before and is reused" in " ".join(out.split())
    assert len(list((tmp_path / "stages").glob("*.pt"))) == 1


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "run.toml"
    path.write_text(text)
    return str(path)


def config_of(store: Path) -> dict:
    (run,) = (store / "runs").iterdir()
    return json.loads((run / "config.json").read_text())


def test_options_come_over_the_file_and_the_file_over_the_recipe(capsys, tmp_path):
    path = written(
        tmp_path,
        'seed = 4\nselection = "last"\n[dataset]\nname = "moons"\nsizes = [40, 40, 4, 4]\ntest_size = 20\n'
        '[method]\nname = "rmix"\neta = 7\nalpha = 2.0\n[training]\nepochs = 2\nlr = 0.5\n[first]\nepochs = 1\n',
    )
    code, _, err = said(capsys, "train", "--config", path, "--alpha", "3", "--out", str(tmp_path / "out"))
    assert code == 0, err
    config = config_of(tmp_path / "out")
    assert (config["seed"], config["selection"]) == (4, "last")
    assert (config["method"]["eta"], config["method"]["alpha"], config["method"]["mix_prob"]) == (7.0, 3.0, 0.5)
    assert (config["training"]["lr"], config["training"]["weight_decay"]) == (0.5, 1e-3)  # the file, the recipe


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[method]\nname = "rmix"\netta = 3\n', "No setting named 'etta' in rmix. Did you mean 'eta'?"),
        ('[methd]\nname = "rmix"\n', "No section named 'methd'. Did you mean 'method'?"),
        ('[method]\nname = "rmix"\neta = "high"\n', "rmix.eta must be float, got 'high'."),
        ("[training\n", "is not valid TOML"),
        ('[training]\nepochs = 0\n[method]\nname = "erm"\n', "epochs must be >= 1, got 0"),
    ],
)
def test_mistakes_in_a_file_get_one_sentence(capsys, tmp_path, text, sentence):
    code, _, err = said(capsys, "train", "moons", "--config", written(tmp_path, text), "--out", str(tmp_path / "out"))
    assert code == 2
    assert sentence in err
    assert not (tmp_path / "out").exists()


def test_a_file_about_another_method_does_not_lend_its_settings(capsys, tmp_path):
    path = written(tmp_path, '[method]\nname = "rmix"\neta = 7\n')
    code, _, err = said(capsys, "train", "moons", "erm", "--config", path, *FAST, "--out", str(tmp_path / "out"))
    assert code == 0, err
    assert config_of(tmp_path / "out")["method"] == {"name": "erm"}


def test_methods_and_datasets_list_and_show_cards(capsys):
    from rmix.datasets import DATASETS
    from rmix.methods import METHODS

    listed = said(capsys, "methods")[1]
    assert all(f" {name} " in listed for name in METHODS)
    shown = " ".join(said(capsys, "methods", "rmix")[1].replace("│", " ").split())
    assert "Deviations sigma is tested as p < sigma" in shown
    assert "eta 20.0 the weight of a row is eta * u + c" in shown
    assert all(f" {name} " in said(capsys, "datasets")[1] for name in DATASETS)
    assert "600" in said(capsys, "datasets", "moons")[1]


@pytest.mark.slow
def test_demo_prints_the_table_and_writes_the_report(capsys, tmp_path):
    code, out, err = said(capsys, "demo", "--seeds", "1", "--jobs", "1", "--out", str(tmp_path))
    assert code == 0, err
    assert all(name in out for name in ("erm", "mixup", "iw", "rmix", "rmix_aware", "Adjusted"))
    page = (tmp_path / "report.html").read_text()
    assert page.count("<svg") >= 7
    assert len(list((tmp_path / "runs").iterdir())) == 10
