"""Plants one realistic bug at a time in a copy of the library; a named test must catch each.

``python tests/house/plant_bugs.py [word ...]`` plants those whose name has one of the words, or all.
Tests whose numbers do not change under the bug one fears are decoration: this finds them.
"""

import io
import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
METHODS = "tests/contract/test_methods.py::test_method"
MIXERS = "tests/contract/test_mixers.py::test_mixer"
RULES = "tests/contract/test_weightings.py::test_weight_rule"
FRESH = "tests/contract/test_methods.py::test_a_fresh_process_gives_the_same_bits"
SLOW_TO_IMPORT = [
    "torch",
    "scipy.stats",
    "sklearn.datasets",
]  # imported once; every bug gets a process forked from there


class Bug(NamedTuple):
    """A line as it is and as a tired person would have written it."""

    name: str
    file: str  # below src/rmix
    old: str
    new: str
    test: str  # must fail


BUGS = (
    Bug(
        "gradients are not summed over processes",
        "recipe.py",
        "add_up(p.grad for p in model.parameters() if p.grad is not None)",
        "pass",
        "tests/contract/test_distributed.py::test_two_processes_train_as_one[erm]",
    ),
    Bug(
        "a search space names no setting",
        "methods/rmix.py",
        '"eta": log_uniform(1, 100)',
        '"etta": log_uniform(1, 100)',
        f"{METHODS}[01_plain_values-rmix]",
    ),
    Bug(
        "a part cannot be written down",
        "mixers/__init__.py",
        '    "SameLabelAndGroup",\n',
        "",
        f"{METHODS}[01_plain_values-compose manifold]",
    ),
    Bug(
        "streams are named by Python's hash",
        "streams.py",
        "hashlib.sha256(repr((int(seed), *use)).encode()).digest()",
        'abs(hash((int(seed), *use))).to_bytes(16, "little")',
        FRESH,
    ),
    Bug(
        "lambda comes from the global generator of NumPy",
        "mixers/mixup.py",
        "rng.beta(",
        "np.random.beta(",
        f"{METHODS}[03_global_generators-mixup]",
    ),
    Bug(
        "initial weights come from the global generator of torch",
        "training/trainer.py",
        'with torch_stream(self.seed, "init", stage.name):',
        "if True:",
        f"{METHODS}[03_global_generators-erm]",
    ),
    Bug(
        "seeding torch is not undone",
        "streams.py",
        "with torch.random.fork_rng():",
        "if True:",
        f"{METHODS}[03_global_generators-erm]",
    ),
    Bug(
        "the order depends on the checksum of data with groups",
        "training/trainer.py",
        'stream(self.seed, "order", *name)',
        'stream(self.seed, "order", bundle.checksum, *name)',
        f"{METHODS}[04_group_blind-erm]",
    ),
    Bug(
        "batches always show groups",
        "training/batches.py",
        "bundle.train, bundle.rows(groups).group",
        "bundle.train, bundle.rows(Groups.TRAIN).group",
        f"{METHODS}[05_permission-erm]",
    ),
    Bug(
        "group counts are always known",
        "datasets/base.py",
        "if Groups.TRAIN in groups and filed is not None:",
        "if filed is not None:",
        f"{METHODS}[05_permission-erm]",
    ),
    Bug(
        "a method forgets to declare groups",
        "mixers/pairing.py",
        "        return Groups.TRAIN",
        "        return Groups.NONE",
        "tests/contract/test_mixers.py::test_pairing[SameLabelAndGroup]",
    ),
    Bug(
        "eta off by one",
        "weightings/uncertainty.py",
        "self.eta * uncertainty + self.c",
        "(1 + self.eta) * uncertainty + self.c",
        f"{METHODS}[06_erm_limit-rmix]",
    ),
    Bug(
        "a main stage has streams of its own",
        "methods/compose.py",
        "            yield stage",
        "            yield Stage(stage.recipe, name=type(self.mixer).__name__)",
        f"{METHODS}[06_erm_limit-mixup]",
    ),
    Bug(
        "weights of the data are scaled by their sum",
        "training/batches.py",
        "else split.weight[rows]",
        "else split.weight[rows] / split.weight.sum()",
        f"{METHODS}[07_unit_weights-erm]",
    ),
    Bug(
        "a weighting replaces the weights of the data",
        "weightings/tables.py",
        "return batch.weight * self.ready(",
        "return self.ready(",
        f"{METHODS}[07_integer_weights-iw]",
    ),
    Bug(
        "the average divides by the weights",
        "recipe.py",
        "return sum(terms[1:], start=terms[0]).mean()",
        "return sum(terms[1:], start=terms[0]).sum() / sum(part.weight.sum() for part in mixed.parts)",
        "tests/unit/test_recipe.py::test_average_divides_by_the_rows_not_by_the_weights",
    ),
    Bug(
        "a lone row finds no partner",
        "mixers/pairing.py",
        "        rng.shuffle(partner)",
        "        partner = (partner + rng.integers(1, len(batch))) % len(batch)",
        f"{METHODS}[08_small_batches-mixup]",
    ),
    Bug(
        "tables drop absent groups",
        "metrics/group_table.py",
        "np.ascontiguousarray(member.T)",
        "np.ascontiguousarray(member[:, member.any(0)].T)",
        f"{METHODS}[08_absent_group-erm]",
    ),
    Bug(
        "weights are numbered without absent groups",
        "weightings/group_size.py",
        "weight[:-1][present] = self",
        "weight[: present.sum()] = self",
        f"{METHODS}[08_absent_group-iw]",
    ),
    Bug(
        "sampling numbers groups with absent ones",
        "samplers/balanced.py",
        "(1 / count)[code]",
        "(1 / count)[rows.group]",
        f"{METHODS}[08_absent_group-iw_sampling]",
    ),
    Bug(
        "mixing in place",
        "mixers/mixup.py",
        "x = x.mul_(1 - lam).add_(batch.x, alpha=lam)",
        "x = batch.x.mul_(lam).add_(x, alpha=1 - lam)",
        f"{METHODS}[09_batch_unchanged-mixup]",
    ),
    Bug(
        "the optimizer's state is not restored",
        "training/trainer.py",
        'self.optimizer.load_state_dict(state["optimizer"])',
        "pass",
        f"{METHODS}[10_resume-erm]",
    ),
    Bug(
        "the best model is not restored",
        "training/trainer.py",
        'self.best, self.best_model = dict(state["best"]), state["best_model"]',
        'self.best, self.best_model = dict(state["best"]), self.model.state_dict()',
        f"{METHODS}[10_resume-erm]",
    ),
    Bug(
        "notes are not restored",
        "weightings/trajectory.py",
        'memory: ClassVar[tuple[str, ...]] = ("bits",)',
        "memory: ClassVar[tuple[str, ...]] = ()",
        f"{METHODS}[10_resume-rmix]",
    ),
    Bug(
        "a kept stage is found under other data",
        "training/trainer.py",
        "parts = [__version__, bundle.checksum, self.key, ",
        "parts = [__version__, self.key, ",
        f"{METHODS}[10_kept_stages-rmix]",
    ),
    Bug(
        "a kept stage is found under another seed",
        "training/trainer.py",
        "self.key, self.seed, stage.name",
        "self.key, stage.name",
        f"{METHODS}[10_kept_stages-rmix]",
    ),
    Bug(
        "the last epoch of notes is lost",
        "training/trainer.py",
        "            stage.recipe.weighting.end_epoch()",
        "            if progress.epoch + 1 < progress.training.epochs:\n"
        "                stage.recipe.weighting.end_epoch()",
        f"{METHODS}[11_learns-rmix]",
    ),
    Bug(
        "the second stage optimises the model of the first",
        "training/trainer.py",
        "make_optimizer(model, training))",
        "make_optimizer(before.model if before else model, training))",
        f"{METHODS}[11_overfits-rmix]",
    ),
    Bug(
        "the gradient stops at the mixed features",
        "recipe.py",
        "after(mixed.x)",
        "after(mixed.x).detach().requires_grad_()",
        f"{METHODS}[11_learns-erm]",
    ),
    Bug(
        "lambda is cast to float32",
        "mixers/mixup.py",
        "torch.from_numpy(lam).to(like)",
        "torch.from_numpy(lam).float().to(like.device)",
        f"{METHODS}[13_float64-compose pairs unmixed]",
    ),
    Bug(
        "a table of weights is cast to float32",
        "weightings/tables.py",
        "self.table = torch.from_numpy(table)",
        "self.table = torch.from_numpy(table.astype(np.float32))",
        f"{RULES}[03_mean_one-inverse frequency]",
    ),
    Bug(
        "partners stay on the CPU",
        "mixers/pairing.py",
        "return torch.from_numpy(partner).to(batch.y.device)",
        "return torch.from_numpy(partner)",
        f"{METHODS}[13_device-mixup]",
    ),
    Bug(
        "methods hold a function",
        "methods/compose.py",
        "        self.composed()  #",
        '        object.__setattr__(self, "make", lambda: self.composed())  #',
        f"{METHODS}[14_pickles-mixup]",
    ),
    Bug(
        "all runs of a process share their notes",
        "weightings/trajectory.py",
        "notes = Trajectory(facts.n)",
        'notes = take_notes.__dict__.setdefault("notes", Trajectory(facts.n))',
        f"{METHODS}[14_independent_copies-rmix]",
    ),
    Bug(
        "a card misses what a method costs",
        "methods/erm.py",
        "    Cost: One forward",
        "    One forward",
        f"{METHODS}[15_card-erm]",
    ),
    Bug(
        "a card hides that groups are read",
        "methods/mixup.py",
        "Sees: Group labels in training.",
        "Sees: No group labels.",
        f"{METHODS}[15_card-igmix]",
    ),
    Bug(
        "a partner's target carries the weight of the row",
        "mixers/mixup.py",
        "weight.index_select(0, partner) * (1 - lam)",
        "weight * (1 - lam)",
        f"{MIXERS}[04_weight_preserved-mixup]",
    ),
    Bug(
        "lambda counts pixels beyond the edge",
        "mixers/cutmix.py",
        "edges += [np.clip(middle - half, 0, length), np.clip(middle + half, 0, length)]",
        "edges += [middle - half, middle + half]",
        f"{MIXERS}[05_input_matches_targets-cutmix]",
    ),
    Bug(
        "a part shows the groups of other rows",
        "mixers/mixup.py",
        "other_group = None if group is None else group.index_select(0, partner)",
        "other_group = group",
        f"{MIXERS}[06_groups-mixup]",
    ),
    Bug(
        "a layer is run on neither side of the cut",
        "mixers/manifold.py",
        "nn.Sequential(features[depth:], head)",
        "nn.Sequential(features[depth + 1 :], head)",
        f"{MIXERS}[08_cut_of_the_model-manifold at random]",
    ),
    Bug(
        "mean one is over groups, not rows",
        "weightings/group_size.py",
        "self.scaled(weight, np.append(rows, in_no_group))",
        "self.scaled(weight)",
        f"{RULES}[03_mean_one-group size by ratio]",
    ),
    Bug(
        "rows in no group are looked up as the last group",
        "weightings/group_size.py",
        "weight = np.ones(len(members) + 1)",
        "weight = np.ones(len(members))",
        f"{RULES}[03_mean_one-group size by ratio]",
    ),
    Bug(
        "a model offers a depth that it does not have",
        "models/mlp.py",
        "mix_points.append(len(layers))",
        "mix_points.append(len(layers) + 1)",
        "tests/contract/test_models.py::test_model[mlp]",
    ),
    Bug(
        "generated data change with every load",
        "datasets/moons.py",
        "rng = stream(self.seed, self.name, split)",
        "rng = np.random.default_rng()",
        "tests/contract/test_datasets.py::test_embedded_dataset[moons]",
    ),
    Bug(
        "the last of the best epochs is kept",
        "training/trainer.py",
        'value > progress.best["value"]',
        'value >= progress.best["value"]',
        "tests/unit/test_selection.py::test_the_first_of_the_largest_is_kept",
    ),
    Bug(
        "groups without rows start with a weight",
        "reductions/group_dro.py",
        "(rows > 0) / np.count_nonzero(rows)",
        "np.full(len(rows), 1 / len(rows))",
        f"{METHODS}[08_absent_group-group_dro]",
    ),
    Bug(
        "weights of groups are not restored",
        "reductions/group_dro.py",
        'memory: ClassVar[tuple[str, ...]] = ("weight",)',
        "memory: ClassVar[tuple[str, ...]] = ()",
        f"{METHODS}[10_resume-group_dro]",
    ),
    Bug(
        "groups that a batch lacks have a loss of 0",
        "reductions/vrex.py",
        "present = (mass > 0).to(means)",
        "present = torch.ones_like(means)",
        f"{METHODS}[08_absent_group-vrex]",
    ),
    Bug(
        "the optimizer goes on at the switch",
        "methods/vrex.py",
        "fresh_optimizer=switch",
        "fresh_optimizer=False",
        "tests/unit/test_reductions_vrex.py::test_the_optimizer_starts_afresh_at_the_switch",
    ),
    Bug(
        "outliers stay in the worst case",
        "reductions/worst_case.py",
        "torch.maximum(until - ranked, start)",
        "(until - ranked)",
        "tests/reference/test_robust.py::test_worst_cases_over_rows[doro_cvar_doro_a0.25_e0.125]",
    ),
    Bug(
        "weights are part of the loss, not of the distribution",
        "reductions/worst_case.py",
        "density = self.density(ratio(weighted, mass), mass)",
        "density = self.density(weighted, torch.ones_like(mass))",
        f"{METHODS}[07_integer_weights-cvar_dro]",
    ),
    Bug(
        "errors are seen lambda times, not once more",
        "methods/jtt.py",
        "1 + self.up_weight * wrong",
        "1 * ~wrong + self.up_weight * wrong",
        "tests/unit/test_jtt.py::test_rows_wrong_in_one_epoch_are_seen_1_plus_lambda_times",
    ),
    Bug(
        "upsampled rows come in order",
        "samplers/upsampled.py",
        "repeated[rng.permutation(len(repeated))]",
        "repeated",
        f"{METHODS}[06_erm_limit-jtt]",
    ),
    Bug(
        "what is held out changes with the epoch",
        "samplers/held_out.py",
        "self.mask(rows)",
        "rng.random(len(rows)) < self.share",
        "tests/unit/test_upsampled.py::test_the_part_depends_on_its_seed_alone",
    ),
    Bug(
        "a row of weight zero is remembered",
        "methods/lff.py",
        "counts = batch.weight > 0",
        "counts = batch.weight >= 0",
        "tests/unit/test_lff.py::test_a_row_of_weight_zero_is_not_there",
    ),
    Bug(
        "the model learns from its twin's share",
        "methods/lff.py",
        "self.difficulty(batch, losses.detach())",
        "self.difficulty(batch, losses)",
        "tests/unit/test_lff.py::test_neither_learns_from_the_loss_of_the_other",
    ),
    Bug(
        "the features are trained with the head",
        "methods/afr.py",
        "head_only=True",
        "head_only=False",
        "tests/unit/test_dfr.py::test_the_features_are_those_of_the_first_stage_whatever_the_head_does[afr]",
    ),
    Bug(
        "the original form of CORAL is the other one",
        "methods/coral.py",
        'original=self.form == "deep_coral"',
        "original=False",
        "tests/unit/test_penalised.py::test_coral_takes_the_form_that_it_is_given",
    ),
    Bug(
        "the head is pulled to zero",
        "methods/afr.py",
        "(now - then.to(now)) ** 2",
        "now**2",
        "tests/unit/test_afr.py::test_the_pull_is_to_where_the_head_began",
    ),
    Bug(
        "a penalty's updates are forgotten",
        "methods/penalised.py",
        'memory: ClassVar[tuple[str, ...]] = ("updates",)',
        "memory: ClassVar[tuple[str, ...]] = ()",
        f"{METHODS}[10_resume-ib_irm from the second epoch]",
    ),
    Bug(
        "slopes are multiplied by a function that divides by them again",
        "methods/irm.py",
        "means[0::2] * means[1::2]",
        "means.view(-1, 2).prod(1)",
        f"{METHODS}[08_absent_group-ib_irm from the second epoch]",
    ),
    Bug(
        "a round goes all of its share for each of its steps",
        "methods/fish.py",
        "self.meta_lr / (len(order) if self.official else 1)",
        "self.meta_lr",
        "tests/reference/test_gradient_methods.py::test_fish",
    ),
    Bug(
        "least weights are set before weights are scaled",
        "methods/cgd.py",
        "    return (weight / weight.sum()).clamp(min=LEAST_WEIGHT)",
        "    weight = weight.clamp(min=LEAST_WEIGHT)\n    return weight / weight.sum()",
        "tests/unit/test_cgd.py::test_weights_move_are_scaled_and_clamped",
    ),
    Bug(
        "rows in no group are partners",
        "mixers/selective.py",
        "self.qualified(batch) & known[:, None] & known",
        "self.qualified(batch)",
        "tests/contract/test_mixers.py::test_selective_pairing",
    ),
    Bug(
        "the second of a pair is blended as if it were the first",
        "theory/masks.py",
        "np.concatenate([masks, 1 - masks])",
        "np.concatenate([masks, masks])",
        "tests/unit/test_theory_expansion.py::test_pairs_and_rows_are_the_same_loss_without_centring",
    ),
    Bug(
        "the regulariser takes the weighted covariance, as printed",
        "theory/expansion.py",
        "second_moment(rows.x), theta / law.kept)",
        "second_moment(rows.x, rows.weight), theta / law.kept)",
        "tests/unit/test_theory_expansion.py::test_the_regulariser_needs_centring_rescaling_and_the_plain_covariance",
    ),
    Bug(
        "a pseudo-inverse hides that rows leave the ellipsoid",
        "theory/rademacher.py",
        "np.where(inside, np.linalg.norm(sums @ root, axis=1) / len(x), np.inf)",
        "np.linalg.norm(sums @ root, axis=1) / len(x)",
        "tests/unit/test_theory_bound.py::test_the_supremum_is_infinite_outside_the_range",
    ),
    Bug(
        "rank counts the rounding of wide data",
        "theory/covariance.py",
        "10 * len(sigma) * np.finfo(np.float64).eps",
        "0.0",
        "tests/unit/test_theory_bound.py::test_rank_of_wide_and_of_low_dimensional_data_under_weights",
    ),
    Bug(
        "features are taken along their last principal axes",
        "theory/features.py",
        "[:, -intrinsic:]",
        "[:, :intrinsic]",
        "tests/unit/test_theory_study.py::test_features_along_principal_axes_keep_most_of_the_rows",
    ),
    Bug(
        "a classifier is scaled by its held-out rows too",
        "estimator/classifier.py",
        "x if held is None else x[~held]",
        "x",
        "tests/unit/test_estimator.py::test_it_is_the_trainer_and_nothing_else",
    ),
    Bug(
        "an epoch as good as the best so far renews the patience of a classifier",
        "estimator/splits.py",
        "Rule.value(self, GroupTable",
        "self.value(GroupTable",
        "tests/unit/test_estimator.py::test_training_stops_where_nothing_is_gained_any_more",
    ),
    Bug(
        "the only row of a group is held out of a classifier",
        "estimator/splits.py",
        "& (count[kind] > 1)",
        "& (count[kind] > 0)",
        "tests/unit/test_estimator.py::test_rows_are_held_out_of_every_class_and_group",
    ),
    Bug(
        "rows of weight zero still standardise a classifier",
        "estimator/splits.py",
        "np.arange(len(y)) if weight is None else np.flatnonzero(weight)",
        "np.arange(len(y))",
        "tests/unit/test_estimator.py::test_a_row_of_weight_zero_is_as_good_as_absent",
    ),
    Bug(
        "a row with a missing attribute is put into a group",
        "estimator/sensitive.py",
        "if value is None or",
        "if",
        "tests/unit/test_sensitive.py::test_a_missing_value_is_in_no_group[None]",
    ),
    Bug(
        "a row whose group is missing is filed under the first group",
        "datasets/own_file.py",
        "code.get(row, -1)",
        "code.get(row, 0)",
        "tests/unit/test_own_file.py::test_groups_may_be_missing_in_a_row_a_split_or_everywhere",
    ),
    Bug(
        "a category that training lacks counts as its first one",
        "datasets/table.py",
        "place.get(value, -1)",
        "place.get(value, 0)",
        "tests/unit/test_table.py::test_categories_are_those_of_training_and_an_unseen_one_is_all_zeros",
    ),
    Bug(
        "a network is cut before the linear layer that ran first",
        "models/split.py",
        "_cut(model, ran[-1])",
        "_cut(model, ran[0])",
        "tests/unit/test_own_module.py::test_it_is_cut_before_the_linear_layer_that_runs_last",
    ),
    Bug(
        "an id may stand in training and in test",
        "datasets/own_file.py",
        "check_unique(self.id, *read.values())",
        "check_unique(self.id, read[self.file])",
        "tests/unit/test_own_file.py::test_an_id_that_stands_twice_is_refused_in_one_file_or_in_two",
    ),
    Bug(
        "features of other weights are read from the cache",
        "models/features.py",
        "*files, encoder.identity",
        "*files, encoder.name",
        "tests/unit/test_features.py::test_other_inputs_and_other_weights_have_other_features",
    ),
    Bug(
        "a network halves the side in another convolution than the published weights were trained with",
        "models/resnet.py",
        "self.conv2 = nn.Conv2d(width, width, 3, stride=stride, padding=1, bias=False)",
        "self.conv2 = nn.Conv2d(width, width, 3, padding=stride, bias=False)",
        "tests/unit/test_published_weights.py::test_sides_are_halved_where_torchvision_does",
    ),
    Bug(
        "a small cell leaves no row for training",
        "datasets/own_file.py",
        "len(left) - 1)",
        "len(left))",
        "tests/unit/test_own_file.py::test_cells_are_dealt_by_share_and_a_small_cell_leaves_a_row_for_training",
    ),
    Bug(
        "an identity mentioned by exactly half of the annotators is not counted",
        "datasets/civilcomments.py",
        "name: columns.numbers(name) >= 0.5",
        "name: columns.numbers(name) > 0.5",
        "tests/unit/test_civilcomments.py::test_splits_labels_and_overlapping_groups_by_hand",
    ),
    Bug(
        "a finished run is trained again",
        "studies/grid.py",
        "if result is not None and result.failure is None:",
        "if result is not None and result.failure:",
        "tests/unit/test_grid.py::test_what_ended_is_not_given_to_a_worker",
    ),
    Bug(
        "proposals depend on how many trials were asked for at first",
        "studies/tune.py",
        "earlier = number - number % ROUND",
        "earlier = number",
        "tests/unit/test_tune.py::test_it_goes_on_to_more_trials_as_if_they_had_been_asked_for",
    ),
    Bug(
        "trials are counted as runs of a comparison",
        "studies/tune.py",
        "trial.configs or ()], store.root / FOLDER,",
        "trial.configs or ()], store.root,",
        "tests/unit/test_tune.py::test_the_best_on_validation_is_kept_and_used",
    ),
    Bug(
        "more seeds make the test split larger",
        "reports/groups.py",
        "wilson(self.accuracy.mean, self.test_rows)",
        "wilson(self.accuracy.mean, self.test_rows * self.accuracy.n)",
        "tests/unit/test_reports_groups.py::test_frame_by_hand",
    ),
)


def run_tests(src: Path, tests: list[str]) -> tuple[int, str]:
    """Exit code and output of the tests, on the library in ``src``; to be called once in a process."""
    os.chdir(ROOT)
    os.environ.update(PYTHONPATH=str(src), OMP_NUM_THREADS="1", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    sys.path.insert(0, str(src))
    import pytest

    import rmix

    assert rmix.__file__.startswith(str(src)), f"{rmix.__file__} is not in {src}"
    with redirect_stdout(io.StringIO()) as said:
        code = pytest.main(["-p", "no:cacheprovider", "--tb=line", *tests])
    return int(code), said.getvalue()


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the folder ``src``."""
    with tempfile.TemporaryDirectory() as folder:
        src = Path(folder).resolve() / "src"
        shutil.copytree(ROOT / "src", src, ignore=shutil.ignore_patterns("__pycache__"))
        yield src


def without(tests: list[str]) -> tuple[int, str]:
    """The tests without a bug."""
    with copied() as src:
        return run_tests(src, tests)


def plant(bug: Bug) -> str:
    """What became of the bug: caught, or why it was not."""
    with copied() as src:
        file = src / "rmix" / bug.file
        text = file.read_text()
        if bug.old not in text:
            return f"stale: {bug.file} has no {bug.old!r} any more"
        file.write_text(text.replace(bug.old, bug.new))
        code, said = run_tests(src, [bug.test])
    if code == 1 and "FAILED" in said:  # other codes: not collected, not found
        return "caught"
    return f"{'survived' if code == 0 else f'not judged: {said[-300:]}'} ({bug.test})"


def plant_all(bugs: tuple[Bug, ...]) -> dict[str, str]:
    """What became of each bug, after its tests were seen to pass without it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(SLOW_TO_IMPORT)
    workers = min(4, os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, mp_context=context, max_tasks_per_child=1) as pool:
        code, said = pool.submit(without, sorted({bug.test for bug in bugs})).result()
        if code:
            return {"(no bug at all)": f"not judged: the tests fail without a bug\n{said}"}
        return dict(zip([bug.name for bug in bugs], pool.map(plant, bugs), strict=True))


def main(words: list[str]) -> int:
    """Plant, report, and say by the exit code whether all were caught."""
    bugs = tuple(bug for bug in BUGS if not words or any(word in bug.name for word in words))
    fates = plant_all(bugs)
    for name, fate in fates.items():
        sys.stdout.write(f"{name:60s} {fate}\n")
    return int(not bugs or any(fate != "caught" for fate in fates.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
