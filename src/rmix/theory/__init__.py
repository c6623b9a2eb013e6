"""The paper's theory in numbers: each claim as a function, as printed and as derived. In NumPy, float64."""

from rmix.theory.bound import Constants, Retention, bound, derived_radius, level, printed_radius, worst_retention
from rmix.theory.covariance import group_moments, masked, rank, second_moment, trace_of_quotient, weighted_sum
from rmix.theory.expansion import Rows, mixed_loss, partnered_loss, regulariser
from rmix.theory.glm import GLM, LINEAR, LOGISTIC, POISSON
from rmix.theory.lambda_mixture import LambdaMixture
from rmix.theory.masks import BoxMasks, CutMixMasks, MaskLaw, MixupMasks, draw_law
from rmix.theory.rademacher import Terms, complexity_terms, draw_signs, over_ellipsoid, over_product
from rmix.theory.two_views import one_target, two_targets

__all__ = [
    "GLM",
    "LINEAR",
    "LOGISTIC",
    "POISSON",
    "BoxMasks",
    "Constants",
    "CutMixMasks",
    "LambdaMixture",
    "MaskLaw",
    "MixupMasks",
    "Retention",
    "Rows",
    "Terms",
    "bound",
    "complexity_terms",
    "derived_radius",
    "draw_law",
    "draw_signs",
    "group_moments",
    "level",
    "masked",
    "mixed_loss",
    "one_target",
    "over_ellipsoid",
    "over_product",
    "partnered_loss",
    "printed_radius",
    "rank",
    "regulariser",
    "second_moment",
    "trace_of_quotient",
    "two_targets",
    "weighted_sum",
    "worst_retention",
]
