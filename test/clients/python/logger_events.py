"""Calls `ForgeLogger` as the `Trainer` of lightning 2.6.6 did in `fit` of 2 epochs of 4 steps (`log_every_n_steps=2`, with
`ModelCheckpoint(monitor="val/loss", save_last=True)`) and `test`, with the package itself replaced by the parts that the
logger uses. Its argument is the `default_root_dir`.
"""

import abc
import functools
import os
import sys
import types


class Logger(abc.ABC):
    @property
    def save_dir(self):
        return None

    @property
    @abc.abstractmethod
    def name(self):
        ...

    @property
    @abc.abstractmethod
    def version(self):
        ...

    @abc.abstractmethod
    def log_metrics(self, metrics, step=None):
        ...

    @abc.abstractmethod
    def log_hyperparams(self, params, *args, **kwargs):
        ...

    def log_graph(self, model, input_array=None):
        pass

    def save(self):
        pass

    def finalize(self, status):
        self.save()

    def after_save_checkpoint(self, checkpoint_callback):
        pass


def on_rank_zero(fn):
    @functools.wraps(fn)
    def wrapped(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapped


for name in ("lightning", "lightning.pytorch", "lightning.pytorch.loggers", "lightning.pytorch.utilities"):
    sys.modules[name] = types.ModuleType(name)
loggers = sys.modules["lightning.pytorch.loggers.logger"] = types.ModuleType("lightning.pytorch.loggers.logger")
loggers.Logger, loggers.rank_zero_experiment = Logger, on_rank_zero
ranks = sys.modules["lightning.pytorch.utilities.rank_zero"] = types.ModuleType("lightning.pytorch.utilities.rank_zero")
ranks.rank_zero_only = on_rank_zero

from forge.lightning import ForgeLogger  # noqa: E402


class Score:
    """As a tensor of one element."""

    def __init__(self, value):
        self.value = value

    def numel(self):
        return 1

    def item(self):
        return self.value


logger = ForgeLogger()
logger.experiment
folder = os.path.join(sys.argv[1], logger.name, logger.version, "checkpoints")
os.makedirs(folder)
checkpoints = types.SimpleNamespace(best_k_models={}, last_model_path="", best_model_path="", monitor="val/loss")


def saved(name, step):
    path = checkpoints._last_checkpoint_saved = os.path.join(folder, name)
    checkpoints._last_global_step_saved = step
    with open(path, "w") as file:
        file.write("weights")
    if name == "last.ckpt":
        checkpoints.last_model_path = path
    logger.after_save_checkpoint(checkpoints)


logger.log_hyperparams({"lr": 0.1, "width": 3})
logger.log_graph(None)
logger.save()
for epoch in (0, 1):
    for step in (1, 3):
        logger.log_metrics(metrics={"train/loss": 1.0 / (1 + step), "epoch": epoch}, step=4 * epoch + step)
        logger.save()
    logger.log_metrics(metrics={"val/loss": 0.5 - epoch / 4, "epoch": epoch}, step=4 * epoch + 3)
    logger.save()
    path = "epoch=%d-step=%d.ckpt" % (epoch, 4 * epoch + 4)
    checkpoints.best_k_models = {os.path.join(folder, path): Score(0.5 - epoch / 4)}
    saved(path, 4 * epoch + 4)
    saved("last.ckpt", 4 * epoch + 4)
logger.finalize("success")
logger.log_hyperparams({"lr": 0.1, "width": 3})
logger.log_metrics(metrics={"test/loss": 0.25, "epoch": 2}, step=8)
logger.save()
logger.finalize("success")
