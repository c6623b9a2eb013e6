"""The step looks at no value of a tensor, so many models may be trained at once, their parameters stacked."""

import copy

import pytest
import torch
from torch.func import functional_call, grad, stack_module_state, vmap
from toys import rng

from rmix.methods import METHODS
from rmix.recipe import Sampler
from rmix.testing.runs import fit
from rmix.testing.toy import toy_bundle, toy_model
from rmix.training.batches import training_batches, training_order

# of one function of the inputs, and without a memory that every model would need its own of
STACKED = (
    *("erm", "mixup", "igmix", "iw", "vrex", "irm", "domain_mix", "lisa", "focal", "ldam", "balanced_softmax"),
    *("cvar_dro", "chi2_dro", "cvar_doro", "chi2_doro", "jtt", "rmix", "rmix_aware"),
)


@pytest.mark.parametrize("name", STACKED)
def test_gradients_of_stacked_models_are_those_of_each(name: str) -> None:
    method, bundle = METHODS[name](), toy_bundle()
    recipe = fit(method, bundle).recipe
    order = training_order(bundle, Sampler(), 16, rng(), method.groups)
    batch = next(training_batches(bundle, order, 16, method.groups))
    models = [toy_model(dtype=torch.float64) for _ in range(3)]
    skeleton = copy.deepcopy(models[0]).to("meta")

    def loss(parameters: dict[str, torch.Tensor]) -> torch.Tensor:
        return recipe.step(lambda x: functional_call(skeleton, parameters, (x.double(),)), batch, rng()).loss

    stacked, _ = stack_module_state(models)
    together = vmap(grad(loss))(stacked)
    for number, model in enumerate(models):
        alone = grad(loss)({key: value.detach() for key, value in model.named_parameters()})
        for key, value in alone.items():
            torch.testing.assert_close(together[key][number], value, rtol=1e-9, atol=1e-12)
