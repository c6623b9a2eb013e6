"""Group DRO in the Trainer of Lightning: one line in the training step, one callback, one sampler."""

import lightning.pytorch as pl
import torch
from torch.utils.data import DataLoader, TensorDataset

import rmix
from rmix.datasets import FourMoons
from rmix.integrations.lightning import RMixCallback

data = FourMoons().load()
objective = rmix.Objective("group_dro", data.train.y, data.train.group)


class Classifier(pl.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.network(x)

    def training_step(self, batch: list[torch.Tensor], batch_idx: int) -> torch.Tensor:
        x, y, index = batch
        return objective(self, x, y, index)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9)


rows = rmix.WithIndex(TensorDataset(data.train.x, data.train.y))
loader = DataLoader(rows, batch_size=64, sampler=objective.sampler(64))
quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "enable_checkpointing": False}
model = Classifier()
pl.Trainer(max_epochs=20, accelerator="cpu", callbacks=[RMixCallback(objective)], **quiet).fit(model, loader)

right = (model(data.test.x).argmax(1) == data.test.y).numpy()
table = rmix.GroupTable.of(right, data.test.member(4))
print(f"average {table.average:.2f}, worst group {table.worst:.2f}")
