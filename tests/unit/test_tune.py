"""`rmix tune`: what is proposed, who decides, and what a comparison makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from test_cli import FAST, said
from toys import TWO_STAGES, KilledError, small

from rmix.errors import InvalidValueError, StoreError, require
from rmix.experiment.config import Config
from rmix.experiment.store import Store
from rmix.methods import ERM, METHODS, Method
from rmix.methods.space import Choice, Space, Uniform
from rmix.recipe import Facts, Recipe
from rmix.studies import Grid, Local
from rmix.studies.spaces import including, training_space
from rmix.studies.tune import ROUND, Search, tune
from rmix.studies.tuned import Tuned, mark, same_budget, tuned_configs
from rmix.training.settings import Training

optuna = pytest.importorskip("optuna")
BASE = small(TWO_STAGES)
SETTINGS = ("eta", "mix_prob", "alpha")


def search_for(store: Path, base: Config = BASE, **changes: Any) -> Search:
    return Search(base, "checksum", Store(store), **changes)


def settings(search: Search) -> list[tuple[Any, ...]]:
    return [tuple(trial.params[key] for key in SETTINGS) for trial in search.study.trials]


def judged(search: Search, trials: int, killed_after: int | None = None) -> list[tuple[Any, ...]]:
    """Go on to ``trials`` trials, each worth its eta; the settings of all."""
    told = 0
    with search.opened():
        while asked := search.ask(trials):
            for trial in asked:
                if told == killed_after:
                    raise KilledError
                assert trial.configs is not None
                search.study.tell(trial.number, trial.configs[0].method.eta)  # type: ignore[attr-defined]
                told += 1
        return settings(search)


def test_the_first_trial_is_the_method_as_it_came(tmp_path: Path) -> None:
    search = search_for(tmp_path)
    with search.opened():
        first = search.ask(1)
    assert [trial.number for trial in first] == [0]
    assert first[0].configs == [replace(BASE, seed=1000)]


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.space])
def test_a_search_for_any_method_begins_with_the_method_as_it_came(name: str, tmp_path: Path) -> None:
    base = small(METHODS[name]())
    search = search_for(tmp_path, base)
    with search.opened():
        first, *others = search.ask(ROUND)
    assert first.configs == [replace(base, seed=1000)]
    assert all(trial.configs for trial in others)


def test_later_trials_lie_in_the_space_and_differ(tmp_path: Path) -> None:
    found = judged(search_for(tmp_path), 12)
    assert len(set(found)) > 9
    assert all(1 <= eta <= 100 and p in (0.5, 1.0) and alpha in (0.5, 1.5, 3.0) for eta, p, alpha in found)


def test_a_search_learns(tmp_path: Path) -> None:
    """Worth is eta: after twenty trials of chance and search the rest crowd the upper end of 1 to 100."""
    etas = [eta for eta, *_ in judged(search_for(tmp_path), 30)]
    assert sum(eta > 50 for eta in etas[20:]) >= 7  # chance alone would give 1.5 of 10


def test_it_proposes_the_same_however_often_it_is_killed(tmp_path: Path) -> None:
    whole = judged(search_for(tmp_path / "whole"), 18)
    for kills in (0, 1, 5, 3):
        with pytest.raises(KilledError):
            judged(search_for(tmp_path / "killed"), 18, killed_after=kills)
    assert judged(search_for(tmp_path / "killed"), 18) == whole


def test_it_goes_on_to_more_trials_as_if_they_had_been_asked_for(tmp_path: Path) -> None:
    whole = judged(search_for(tmp_path / "whole"), 18)
    for trials in (3, 11, 12, 18):
        found = judged(search_for(tmp_path / "parts"), trials)
        assert found == whole[:trials]


def test_a_round_is_asked_before_it_is_judged(tmp_path: Path) -> None:
    search = search_for(tmp_path)
    with search.opened():
        assert [trial.number for trial in search.ask(7)] == list(range(ROUND))
        assert [trial.number for trial in search.ask(7)] == list(range(ROUND))  # nothing was told
        for number in range(ROUND):
            search.study.tell(number, 0.5)
        assert [trial.number for trial in search.ask(7)] == [5, 6]


def test_another_search_proposes_other_settings(tmp_path: Path) -> None:
    one = judged(search_for(tmp_path), 4)
    other = judged(search_for(tmp_path, replace(BASE, training=Training(epochs=2))), 4)
    assert one[1:] != other[1:]
    assert len({search_for(tmp_path, seeds=n).name for n in (1, 2)}) == 2
    assert search_for(tmp_path).name == search_for(tmp_path, replace(BASE, seed=7)).name


def test_trials_begin_with_different_seeds(tmp_path: Path) -> None:
    search = search_for(tmp_path, seeds=3)
    with search.opened():
        seeds = [[config.seed for config in trial.configs or ()] for trial in search.ask(4)]
    assert seeds == [[1000, 1001, 1002], [1001, 1002, 1000], [1002, 1000, 1001], [1000, 1001, 1002]]


def journal_of(path: Path) -> Any:
    """As Optuna opens it, with a lock of its own."""
    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))


def train_here(grid: Grid) -> None:
    for _ in grid.train():
        pass


def test_the_best_on_validation_is_kept_and_used(tmp_path: Path) -> None:
    store = Store(tmp_path)
    checksum = BASE.dataset.load().checksum
    search = Search(BASE, checksum, store, seeds=2)
    (best,) = tune([search], 6, store, Local(1))
    assert best is not None
    values: dict[float, list[float]] = {}
    assert store.results() == []  # a report of the store is about comparisons
    for result in Store(tmp_path / "searches").results():
        values.setdefault(result.config["method"]["eta"], []).append(result.selected["value"])
    assert all(len(of) == 2 for of in values.values())  # one run a seed and trial
    means = {eta: sum(of) / 2 for eta, of in values.items()}
    assert best.how["value"] == max(means.values())
    assert means[best.config.method.eta] == best.how["value"]  # type: ignore[attr-defined]
    assert (best.how["trials"], best.how["failed"], best.how["seeds"]) == (6, 0, [1000, 1001])
    assert best.how["value_as_it_came"] == means[TWO_STAGES.eta]
    (used,) = tuned_configs([replace(BASE, seed=3)], checksum, store)
    assert replace(used.config, seed=0) == best.config
    assert used.how == best.how
    stages = len(list(tmp_path.glob("searches/stages/*.pt")))
    assert stages == 2  # once a seed, not once a trial


def test_the_same_number_of_trials_again_trains_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = tune([search_for(tmp_path)], 3, store, Local(1))

    def refuses(grid: Grid) -> None:
        raise AssertionError(grid.runs)

    assert tune([search_for(tmp_path)], 3, store, Local(1), follow=refuses) == first


def test_optuna_itself_reads_the_journal_and_adds_to_it(tmp_path: Path) -> None:
    """As optuna-dashboard does, whose lock is a link of another name than ours: a note need not wait for it."""
    (best,) = tune([search_for(tmp_path)], 2, Store(tmp_path), Local(1))
    journal = tmp_path / "searches" / "journal.log"
    assert not journal.with_name("journal.log.lock").exists()
    storage = journal_of(journal)
    (name,) = optuna.get_all_study_names(storage)
    study = optuna.load_study(study_name=name, storage=storage)
    study.set_user_attr("note", "good")
    assert best is not None
    again = optuna.load_study(study_name=name, storage=journal_of(journal))
    assert (again.user_attrs, again.best_value) == ({"note": "good"}, best.how["value"])
    assert tune([search_for(tmp_path)], 2, Store(tmp_path), Local(1)) == [best]


def test_a_killed_search_ends_like_one_left_alone(tmp_path: Path) -> None:
    def trained(store: Path, kill_at: Iterator[int]) -> Any:
        def follow(grid: Grid) -> None:
            for _ in grid.train():
                if next(kill_at, None) == 1:
                    raise KilledError

        return tune([search_for(store)], 6, Store(store), Local(1), follow=follow)

    (alone,) = trained(tmp_path / "alone", iter(()))
    for runs in (2, 1, 2):
        with pytest.raises(KilledError):
            trained(tmp_path / "killed", iter(range(runs, 0, -1)))
    (killed,) = trained(tmp_path / "killed", iter(()))
    assert killed == alone
    kept = [{p.name: p.read_bytes() for p in (tmp_path / of).glob("tuned/*")} for of in ("alone", "killed")]
    assert kept[0] == kept[1]


def test_diverging_settings_cost_a_trial_each(tmp_path: Path) -> None:
    base = small(ERM(), training=Training(epochs=1, batch_size=16, lr=1e20))
    search = Search(base, "checksum", Store(tmp_path), training=True)
    assert tune([search], 2, Store(tmp_path), Local(1)) == [None]
    with search.opened():
        assert [trial.state.name for trial in search.study.trials] == ["FAIL", "FAIL"]
    assert not list(tmp_path.glob("tuned/*"))


@dataclass(frozen=True)
class Picky(Method):
    """Refuses some of its own range."""

    name: ClassVar[str] = "picky"
    space: ClassVar[Space] = {"a": Choice((1, 2))}
    a: int = 1

    def __post_init__(self) -> None:
        require(self.a == 1, "a must be 1")

    def recipe(self, facts: Facts) -> Recipe:
        return Recipe()


def test_refused_settings_cost_a_trial_too(tmp_path: Path) -> None:
    search = Search(small(Picky()), "checksum", Store(tmp_path))
    (best,) = tune([search], 5, Store(tmp_path), Local(1))
    with search.opened():
        states = [(trial.params["a"], trial.state.name) for trial in search.study.trials]
    assert set(states) == {(1, "COMPLETE"), (2, "FAIL")}
    assert best is not None
    assert (best.config.method, best.how["trials"]) == (Picky(), 5)
    assert best.how["failed"] == states.count((2, "FAIL"))


def test_every_method_may_have_its_training_tuned(tmp_path: Path) -> None:
    search = search_for(tmp_path, small(ERM()), training=True)
    with search.opened():
        trials = search.ask(ROUND)
    configs = [trial.configs[0] for trial in trials if trial.configs]
    assert len(configs) == ROUND
    assert configs[0].training == small().training
    assert all(0.01 <= config.training.lr <= 1.0 for config in configs)
    assert len({config.training.lr for config in configs}) == ROUND
    assert all(config.training.epochs == 3 for config in configs)


def test_ranges_hold_what_they_begin_with() -> None:
    assert including(Uniform(0.5, 1.0), 0.2) == Uniform(0.2, 1.0)
    assert including(Choice((0, 10)), 10) == Choice((0, 10))
    with pytest.raises(InvalidValueError, match=r"A search over orders of magnitude cannot begin at 0\.0"):
        including(Uniform(1, 100, log=True), 0.0)
    lr = training_space(Training(lr=0.02))["training.lr"]
    assert isinstance(lr, Uniform)
    assert (lr.low, lr.high, lr.log) == (0.002, 0.2, True)


def test_a_rule_without_a_value_cannot_tune(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="selection 'last' gives no value to tune by"):
        search_for(tmp_path, replace(BASE, selection="last"))
    with pytest.raises(InvalidValueError, match="tune_seeds must be >= 1, got 0"):
        search_for(tmp_path, seeds=0)
    with pytest.raises(InvalidValueError, match="trials must be >= 1, got 0"):
        tune([], 0, Store(tmp_path), Local(1))


def test_a_comparison_needs_the_searches_it_names(tmp_path: Path) -> None:
    with pytest.raises(
        StoreError, match=r"No search for rmix with these settings has ended in .*run: rmix tune moons rmix"
    ):
        tuned_configs([small(ERM()), BASE], "checksum", Store(tmp_path))
    (untuned,) = tuned_configs([small(ERM())], "checksum", Store(tmp_path))
    assert (untuned.config, untuned.how) == (small(ERM()), {})


def searched(trials: int = 20, seeds: int = 1, **settings: float) -> Tuned:
    return Tuned(BASE, {"trials": trials, "seeds": list(range(seeds)), "settings": settings})


def test_searches_of_other_sizes_are_not_compared_in_silence() -> None:
    untuned, lr = Tuned(BASE, {}), {"training.lr": 0.1}
    assert same_budget([untuned, untuned])
    assert same_budget([untuned, searched(eta=2.0), searched(alpha=1.0)])  # nothing of it can be tuned
    assert same_budget([searched(**lr), searched(eta=2.0, **lr)])
    for unlike in (searched(trials=5), searched(seeds=2), searched(**lr)):
        assert not same_budget([searched(), unlike])
    assert not same_budget([untuned, searched(**lr)])  # whose learning rate nobody tuned


def test_a_result_says_how_its_settings_were_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    grid = Grid([small()], tmp_path)
    train_here(grid)
    how = {"trials": 3, "rule": "worst_group"}
    marked = mark(grid.results[0], how, store)
    assert marked.tuned == how
    assert store.results() == [marked]
    assert mark(marked, how, store) is marked
    assert mark(grid.results[0], {}, store).tuned is None
    assert (store.folder(grid.runs[0]) / "model.pt").exists()


TUNE = ["tune", "moons", "rmix", "erm", *FAST, "--jobs", "1", "--trials", "2"]


def test_tune_and_compare_from_the_command_line(capsys, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    out = ["--out", str(tmp_path / "runs")]
    code, text, err = said(capsys, *TUNE, *out)
    assert code == 0, err
    assert "erm has nothing to tune; comparisons take it as it is." in text
    assert "2 of 2 runs: rmix, seed 1000: worst_group" in text
    assert f"Use them: rmix compare moons --methods rmix erm --tuned --out {tmp_path / 'runs'}, with" in text
    compare = ["compare", "moons", *FAST, "--methods", "rmix", "erm", "--seeds", "1", "--jobs", "1", "--tuned", *out]
    code, text, err = said(capsys, *compare)
    assert code == 0, err
    assert "rmix was tuned: " in text
    assert "(best of 2 trials, worst_group on validation)." in text
    assert "erm was not tuned: it has no range of settings." in text
    assert "not fair" not in text
    results = [json.loads(path.read_text()) for path in tmp_path.glob("runs/runs/*-s0-*/result.json")]
    how = {result["config"]["method"]["name"]: result["tuned"] for result in results}
    assert how["erm"] is None
    assert (how["rmix"]["trials"], how["rmix"]["seeds"]) == (2, [1000])
    code, _, err = said(capsys, *compare, "--lr", "0.5")
    assert code == 2
    assert "No search for rmix with these settings has ended in" in err


@pytest.mark.parametrize(("words", "sentence"), [
    (["tune"], "Which data set? Say: rmix tune DATASET METHOD ..., or name it in --config."),
    (["tune", "moons"], "Which method? Say: rmix tune DATASET METHOD ..., or all."),
    (["tune", "moons", "rmxi"], "No method named 'rmxi'. Did you mean 'rmix'?"),
    (["tune", "moons", "rmix", "--selection", "last"], "selection 'last' gives no value to tune by"),
])  # fmt: skip
def test_mistakes_get_one_sentence(capsys, words, sentence, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, _, err = said(capsys, *words, "--out", str(tmp_path / "out"))
    assert code == 2
    assert sentence in err
