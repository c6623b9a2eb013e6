"""Every model keeps its contract."""

import pytest

from rmix.models import MLP, MODELS, DenseNet121, DistilBERT, HuggingFace, ResNet18, ResNet50, SmallCNN, Timm
from rmix.testing import check_model

SUBJECTS = {
    "densenet121": (DenseNet121(), (3, 32, 32)),
    "mlp": (MLP(), (2,)),
    "mlp without hidden layers": (MLP(depth=0), (2,)),
    "mlp on images": (MLP(width=8, depth=1, dropout=0.5), (1, 8, 8)),
    "resnet18": (ResNet18(), (3, 32, 32)),
    "resnet50": (ResNet50(), (3, 32, 32)),
    "small_cnn": (SmallCNN(width=4), (3, 8, 8)),
    "small_cnn on odd sizes": (SmallCNN(width=4), (1, 11, 9)),
}
CHECKED_ELSEWHERE = {
    DistilBERT: "tests/unit/test_text_model.py, which makes the folder it is read from",
    HuggingFace: "tests/unit/test_named_networks.py, likewise",
    Timm: "tests/unit/test_named_networks.py, with a stand-in for timm",
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_model(name):
    spec, shape = SUBJECTS[name]
    check_model(spec, shape)


def test_every_model_is_checked():
    assert {type(spec) for spec, _ in SUBJECTS.values()} == set(MODELS.values()) - set(CHECKED_ELSEWHERE)
