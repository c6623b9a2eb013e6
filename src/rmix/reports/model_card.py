"""What came out of a run, as the README of a model: results by group, labels used, limits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isnan

from rmix.datasets import DATASETS
from rmix.errors import require
from rmix.experiment.result import Result
from rmix.methods import METHODS
from rmix.methods.cards import card
from rmix.reports.estimate import interval_text, per_cent, wilson
from rmix.reports.groups import GroupAccuracy
from rmix.reports.series import NONE, flat, settings_of, tuned_of
from rmix.reports.summary import worst_name_of
from rmix.reports.text_table import TextTable, for_markdown

TASKS = {"mlp": "tabular-classification", "distilbert": "text-classification"}  # by model; the others see images
FEW = 100  # test rows, below which an accuracy is known to about ten points
HEADERS = ("Group", "Training rows", "Test rows", "Accuracy in %", "95 % interval", "")
LOADING = """Needs `pip install rmix safetensors`.

```python
import json
from pathlib import Path

from rmix.experiment.config import config_from
from rmix.models import embed
from safetensors.torch import load_file

config = config_from(json.loads(Path("config.json").read_text()))
bundle = config.dataset.load()  # or your own inputs of the same shape
shown = config.model.prepare(embed(bundle, config.features) if config.features else bundle)
model = config.model.build(shown.shape, shown.n_classes)
model.load_state_dict(load_file("model.safetensors"))
model.eval()
```"""


def model_card(result: Result) -> str:
    """A model card in the format of the Hugging Face hub: metadata in YAML, then words and tables.

    Args:
        result: a finished run.
    """
    require(result.test is not None, f"The run {result.id} failed ({result.failure}) and has no model.")
    parts = [_metadata(result), f"# {result.id}", _summary(result), "## Results by group", _results(result)]
    parts += ["## Group labels that were used", _labels(result), "## Intended use and limits", _limits(result)]
    parts += ["## How to load it", LOADING, "## How it was trained", _training(result)]
    return "\n\n".join(parts) + "\n"


def _metadata(result: Result) -> str:
    """As YAML, of which JSON's strings and numbers are a part."""
    task = TASKS.get(result.config["model"]["name"], "image-classification")
    dataset = result.config["dataset"]["name"]
    lines = ["library_name: rmix", f"pipeline_tag: {task}", "tags:", "- rmix", "- subpopulation-shift"]
    lines += ["- group-robustness", "metrics:", "- accuracy", "model-index:", f"- name: {json.dumps(result.id)}"]
    lines += ["  results:", "  - task:", f"      type: {task}", "    dataset:", f"      name: {json.dumps(dataset)}"]
    lines += [f"      type: {json.dumps(dataset)}", "      split: test", "    metrics:"]
    for name, value in _measures(result):
        lines += ["    - type: accuracy", f"      name: {json.dumps(name, ensure_ascii=False)}"]
        lines += [f"      value: {round(value, 6)}"]
    return "\n".join(["---", *lines, "---"])


def _measures(result: Result) -> Iterator[tuple[str, float]]:
    assert result.test is not None
    yield "average accuracy", result.test.average
    if result.test.worst_group is not None:
        yield f"worst-group accuracy ({result.group_names[result.test.worst_group]})", result.test.worst
    for name, accuracy in zip(result.group_names, result.test.accuracy.tolist(), strict=True):
        if not isnan(accuracy):
            yield f"accuracy of group: {name}", accuracy


def _summary(result: Result) -> str:
    method = METHODS.get(result.method)
    about = f" {card(method)['summary']}" if method else ""
    words = f"A classifier of {' / '.join(map(for_markdown, result.class_names))}, trained on the data set "
    words += f"`{result.config['dataset']['name']}` with the method `{result.method}`, seed {result.seed}.{about}"
    return words + f"\nMade with rmix {result.environment.get('rmix', '')}.".rstrip()


def _results(result: Result) -> str:
    assert result.test is not None
    words = f"Average accuracy on the test split: {per_cent(result.test.average)} % of {result.test.rows:,} rows."
    rows = GroupAccuracy([result]).rows
    if not rows:
        low_high = interval_text(wilson(result.test.average, result.test.rows))
        return f"{words} Its 95 % interval is {low_high}. The data have no groups."
    words += f" Worst group: {worst_of(result)}, {per_cent(result.test.worst)} %."
    cells = [
        (
            row.name,
            "–" if row.train_rows is None else f"{row.train_rows:,}",
            f"{row.test_rows:,.0f}",
            row.accuracy.text,
            interval_text(row.interval),
            "worst" if row.worst else "",
        )
        for row in rows
    ]
    table = TextTable("", "", HEADERS, cells, n_words=1).markdown()
    return f"{words}\n\n{table}\nThe intervals are Wilson's, from the number of test rows."


def worst_of(result: Result) -> str:
    """Name of the worst group."""
    return worst_name_of(GroupAccuracy([result]).series[0])


def _labels(result: Result) -> str:
    used = result.groups_used
    fit = "were read" if used["fit"] else "were not read"
    select = "were read to choose the epoch" if used["select"] else "were not read to choose the epoch"
    return (
        f"- Group labels of training rows {fit} by the method.\n"
        f"- Group labels of validation rows {select} (rule: {result.selected['rule']}).\n"
        "- Group labels of test rows were read only to make the table above."
    )


def _limits(result: Result) -> str:
    assert result.test is not None
    lines = [
        "For research on how classifiers fare on subgroups. The numbers above are of one run, on one test split.",
        "They say nothing about groups that are not in the table, or about data collected in another way.",
        "Not meant for decisions about people.",
    ]
    few = [name for name, n in zip(result.group_names, result.test.total, strict=True) if n < FEW]
    if few:
        lines.append(f"Fewer than {FEW} test rows: {', '.join(map(for_markdown, few))}; see the intervals.")
    dataset = DATASETS.get(result.config["dataset"]["name"])
    if dataset is not None:
        told = card(dataset)
        lines.append(f"The data: {told['summary']} Licence of the data: {told.get('Licence', 'see its source.')}")
    lines.append("No licence is given for these weights; whoever publishes them chooses one.")
    return "\n".join(f"- {line}" for line in lines)


def _training(result: Result) -> str:
    told = {f"dataset.{key}": text for key, text in flat(result.config["dataset"]).items()}
    told |= settings_of(result.config) | {f"environment.{key}": text for key, text in flat(result.environment).items()}
    rows = [
        ("method" if key == "name" else key, text) for key, text in told.items() if text != NONE
    ]  # the bare name is the method's
    chosen = result.selected
    words = f"Epoch {chosen['epoch'] + 1} was kept, by {chosen['rule']} on the validation split."
    if searched := tuned_of(result):
        words += f" The settings were searched for: {searched}."
    return f"{words}\n\n{TextTable('', '', ('Setting', 'Value'), rows, n_words=2).markdown()}".rstrip()
