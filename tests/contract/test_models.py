"""Every model keeps its contract."""

import pytest

from rmix.models import MLP, MODELS, SmallCNN
from rmix.testing import check_model

SUBJECTS = {
    "mlp": (MLP(), (2,)),
    "mlp on images": (MLP(width=8, depth=1, dropout=0.5), (1, 8, 8)),
    "small_cnn": (SmallCNN(width=4), (3, 8, 8)),
    "small_cnn on odd sizes": (SmallCNN(width=4), (1, 11, 9)),
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_model(name):
    spec, shape = SUBJECTS[name]
    check_model(spec, shape)


def test_every_model_is_checked():
    assert {type(spec) for spec, _ in SUBJECTS.values()} == set(MODELS.values())
