"""The search for the settings of methods: Optuna proposes, a grid trains, validation decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rmix.errors import RMixError, require
from rmix.experiment.config import Config
from rmix.experiment.result import Result
from rmix.experiment.store import Store
from rmix.lock import locked
from rmix.streams import stream
from rmix.studies.executors import Executor
from rmix.studies.grid import Grid
from rmix.studies.journal import open_study, optuna
from rmix.studies.spaces import distribution, including, training_space
from rmix.studies.tuned import Tuned, identity, keep

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

FIRST_SEED = 1000  # of the runs of a search; those that are reported count from 0
FOLDER = "searches"  # of the store: a store of its own, so that reports of a comparison do not count trials
ROUND = 5  # trials that are proposed together, from what the rounds before have shown


@dataclass(frozen=True)
class Trial:
    """One proposal, and the runs that judge it; None where the method refuses the settings."""

    number: int
    configs: Sequence[Config] | None


class Search:
    """The search for one method on one data set.

    What is proposed depends on the name of the search, the number of the trial and the values of
    earlier rounds, and on nothing else: not on how many workers there are, who was killed, or in
    which order runs ended. The first trial is the method as it came.

    Args:
        base: the configuration whose method is tuned.
        checksum: of the data.
        store: where searches and their runs are kept.
        seeds: of the runs of each trial; the mean of their values counts.
        training: whether learning rate and weight decay are tuned as well.
    """

    def __init__(self, base: Config, checksum: str, store: Store, seeds: int = 1, training: bool = False) -> None:
        require(seeds >= 1, f"tune_seeds must be >= 1, got {seeds}.")
        require(base.selection != "last", "selection 'last' gives no value to tune by; use worst_group or average.")
        self.base, self.checksum = base, checksum
        self.seeds = range(FIRST_SEED, FIRST_SEED + seeds)
        self.space = {**base.method.space, **(training_space(base.training) if training else {})}
        self.space = {key: including(where, self._default(key)) for key, where in self.space.items()}
        self.name = identity(base, checksum, list(self.seeds), sorted(map(repr, self.space.items())))
        self.folder = store.root / FOLDER
        self.study: Any = None

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Have the study, and have it alone."""
        self.folder.mkdir(exist_ok=True)
        with locked(self.folder / f"{self.name}.lock", f"Search {self.name}"):
            self.study = open_study(self.folder / "journal.log", self.name)
            yield

    def ask(self, trials: int) -> list[Trial]:
        """The trials of the next round, of ``trials`` in all; those that a killed search left come again."""
        known = len(self.study.trials)
        if not self._open():
            for number in range(known, min(trials, known - known % ROUND + ROUND)):
                self.study.add_trial(self._proposal(number))
        return [Trial(number, self._configs(number)) for number in self._open()]

    def tell(self, trial: Trial, results: Sequence[Result]) -> None:
        """What became of a trial."""
        failures = [result.failure for result in results if result.failure is not None]
        if failures or not results:
            self.study.tell(trial.number, state=optuna().trial.TrialState.FAIL)
        else:
            self.study.tell(trial.number, sum(result.selected["value"] for result in results) / len(results))

    @property
    def best(self) -> Tuned | None:
        """The best settings and how they were found, None where every trial failed."""
        done = [t for t in self.study.trials if t.value is not None]
        if not done:
            return None
        best = max(done, key=lambda t: (t.value, -t.number))
        trials = self.study.trials
        return Tuned(
            self._with(best.params),
            {
                "settings": best.params,
                "rule": self.base.selection,
                "value": best.value,
                "value_as_it_came": trials[0].value,
                "trials": len(trials),
                "failed": len(trials) - len(done),
                "seeds": list(self.seeds),
                "search": self.name,
            },
        )

    def _open(self) -> list[int]:
        return [t.number for t in self.study.trials if not t.state.is_finished()]

    def _proposal(self, number: int) -> FrozenTrial:
        """Trial ``number``, from the rounds before its own; written down as a whole or not at all."""
        tuner = optuna()
        distributions = {key: distribution(where) for key, where in self.space.items()}
        if number == 0:
            params = {key: self._default(key) for key in self.space}
        else:
            seed = int(stream(0, "tune", self.name, number).integers(2**31))
            memory = tuner.create_study(direction="maximize", sampler=tuner.samplers.TPESampler(seed=seed))
            earlier = number - number % ROUND
            for trial in self.study.trials[:number]:
                memory.add_trial(trial if trial.number < earlier else _running(trial.params, distributions))
            params = memory.ask(distributions).params
        return _running(params, distributions)

    def _configs(self, number: int) -> Sequence[Config] | None:
        """One run a seed; turned, so that trials begin with different seeds and wait for no first stage."""
        try:
            config = self._with(self.study.trials[number].params)
        except RMixError:
            return None
        turn = number % len(self.seeds)
        return [replace(config, seed=seed) for seed in (*self.seeds[turn:], *self.seeds[:turn])]

    def _with(self, params: Mapping[str, Any]) -> Config:
        """The base with these settings."""
        training = {key.partition(".")[2]: value for key, value in params.items() if "." in key}
        method = {key: value for key, value in params.items() if "." not in key}
        tuned: Any = self.base.method  # a method is a dataclass, which its base class cannot say
        return replace(self.base, method=replace(tuned, **method), training=replace(self.base.training, **training))

    def _default(self, key: str) -> Any:
        part, _, name = key.rpartition(".")
        return getattr(getattr(self.base, part or "method"), name)


def tune(
    searches: Sequence[Search],
    trials: int,
    store: Store,
    executor: Executor,
    device: str = "cpu",
    follow: Callable[[Grid], None] | None = None,
    study: str = "",
) -> list[Tuned | None]:
    """Go on with every search until it has ``trials`` trials; the best of each is kept for comparisons.

    The runs of a round of all searches are trained as one grid, so that workers are not idle.
    """
    require(trials >= 1, f"trials must be >= 1, got {trials}.")
    with ExitStack() as stack:
        for search in sorted(
            searches, key=lambda s: s.name
        ):  # in one order, or two processes would wait for each other
            stack.enter_context(search.opened())
        while asked := [(search, trial) for search in searches for trial in search.ask(trials)]:
            grid = Grid(
                [c for _, trial in asked for c in trial.configs or ()], store.root / FOLDER, executor, device, study
            )
            (follow or _train)(grid)
            left = iter(grid.results)
            for search, trial in asked:
                search.tell(trial, [next(left) for _ in trial.configs or ()])
        found = [search.best for search in searches]
        for search, tuned in zip(searches, found, strict=True):
            if tuned is not None:
                keep(tuned, search.base, search.checksum, store)
        return found


def _train(grid: Grid) -> None:
    for _ in grid.train():
        pass


def _running(params: Mapping[str, Any], distributions: Mapping[str, Any]) -> FrozenTrial:
    trial = optuna().trial
    made: FrozenTrial = trial.create_trial(
        state=trial.TrialState.RUNNING, params=dict(params), distributions=dict(distributions)
    )
    return made
