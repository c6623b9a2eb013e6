"""A classifier of scikit-learn that holds up on every group: fit, and a table of who is served how well."""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from rmix import RMixClassifier
from rmix.estimator import worst_group_accuracy
from rmix.streams import stream


def make_people(n: int, agree: float, seed: int) -> tuple[pd.DataFrame, np.ndarray, pd.Series]:
    """A label that shows in the first column, and a loud attribute that agrees with it in a share of the rows."""
    rng = stream(seed, "example")
    label = rng.integers(2, size=n)
    attribute = np.where(rng.random(n) < agree, label, 1 - label)
    x = pd.DataFrame({"signal": rng.normal(2.5 * label, 1), "shortcut": rng.normal(4 * attribute, 1)})
    return x, np.where(label == 1, "yes", "no"), pd.Series(np.where(attribute == 1, "old", "new"), name="shop")


x, y, shop = make_people(3000, agree=0.95, seed=0)
x_test, y_test, shop_test = make_people(2000, agree=0.5, seed=1)

plain = LogisticRegression().fit(x, y)
robust = RMixClassifier(use_groups=True, epochs=10, random_state=0).fit(x, y, sensitive_features=shop)
for name, fitted in (("logistic regression", plain), ("rmix", robust)):
    worst = worst_group_accuracy(y_test, fitted.predict(x_test), sensitive_features=shop_test)
    print(f"{name}: average {fitted.score(x_test, y_test):.3f}, worst group {worst:.3f}")
print(robust.report(x_test, y_test, shop_test))
