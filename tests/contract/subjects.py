"""The methods that sign the contract: all of them, some compositions, and settings that the defaults do not reach."""

from rmix.methods import CGD, CORAL, IBIRM, IRM, LISA, METHODS, Compose, DomainMix, Fish, GroupDRO
from rmix.mixers import CutMix, Manifold, Mixup, PairsUnmixed, SameLabelAndGroup, Sometimes
from rmix.samplers import Balanced
from rmix.weightings import FromEnsemble, FromTrajectory, GroupSize, InverseFrequency, Uncertainty

COMPOSITIONS = {
    "compose nothing": Compose(),
    "compose cutmix": Compose(mixer=CutMix(1.0), weighting=GroupSize("mean_one", ratio=5)),
    "compose pairs unmixed": Compose(mixer=PairsUnmixed(per_sample=True)),
    "compose manifold": Compose(mixer=Sometimes(Manifold(Mixup(0.5, SameLabelAndGroup()), "random"), 0.8)),
    "compose ensemble": Compose(weighting=Uncertainty(source=FromEnsemble(2))),
    "compose clean notes": Compose(weighting=Uncertainty(source=FromTrajectory(record="clean"), scale="mean_one")),
    "compose under group dro": Compose(base=GroupDRO(), mixer=Mixup(0.5)),
    "compose lisa with weights": Compose(base=LISA(), weighting=Uncertainty("mean_one")),
    "compose balanced": Compose(sampler=Balanced(), weighting=InverseFrequency(power=0.5)),
}
SETTINGS = {  # under which a method does what its defaults do not within a short run
    "irm from the third step": IRM(penalty=2.0, anneal=2),
    "ib_irm from the second epoch": IBIRM(penalty=1.0, anneal=2, bottleneck=0.1, bottleneck_anneal=6),
    "coral original": CORAL(form="deep_coral", groups_per_batch=3),
    "fish domainbed": Fish(meta_lr=0.5, meta_steps=None, variant="domainbed", pretrain=False),
    "cgd of the head": CGD(capacity=2.0, step_size=0.2, parameters=("head",)),
    "domain_mix with adversary": DomainMix(adversary=0.1, mix="manifold"),
    "lisa cutmix": LISA(mix="cutmix", per_sample=False),
}
SUBJECTS = {name: cls() for name, cls in METHODS.items()} | COMPOSITIONS | SETTINGS
