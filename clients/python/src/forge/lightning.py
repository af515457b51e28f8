"""Reports the progress of a Lightning `Trainer`.

    from forge.lightning import ForgeLogger

    trainer = Trainer(logger=ForgeLogger())

Needs the package `lightning` or `pytorch_lightning`, which nothing else here does.
"""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Iterable, Mapping, Optional, Set, Tuple

if "pytorch_lightning" in sys.modules and "lightning" not in sys.modules:
    from pytorch_lightning.loggers.logger import Logger, rank_zero_experiment
    from pytorch_lightning.utilities.rank_zero import rank_zero_only
else:
    try:
        from lightning.pytorch.loggers.logger import Logger, rank_zero_experiment
        from lightning.pytorch.utilities.rank_zero import rank_zero_only
    except ImportError:
        from pytorch_lightning.loggers.logger import Logger, rank_zero_experiment
        from pytorch_lightning.utilities.rank_zero import rank_zero_only

from . import init
from .checkpoints import register
from .run import Run


class ForgeLogger(Logger):
    """Logs the values passed to a module's `self.log` and `save_hyperparameters`, and registers checkpoints.

    project, name, tags  as for `forge.init`, which the first use calls; an active run is used instead
    artifacts            registers the files of a `ModelCheckpoint`, so that a paused job continues from them
    strict               as for `forge.init`; also a checkpoint that is not registered raises

    `logger.experiment` is the `forge.Run`. It does not end with `trainer.fit()`, since `trainer.test()` may follow, but
    with the process or `forge.finish()`.
    """

    def __init__(
        self,
        *,
        project: Optional[str] = None,
        name: Optional[str] = None,
        tags: Iterable[str] = (),
        artifacts: bool = True,
        strict: bool = False,
    ):
        super().__init__()
        self._wanted: Dict[str, Any] = {"project": project, "name": name, "tags": tuple(tags), "strict": strict}
        self._artifacts = artifacts
        self._registered: Set[Tuple[Optional[int], str]] = set()
        self._run: Optional[Run] = None
        self._version: Optional[str] = None

    @property
    @rank_zero_experiment
    def experiment(self) -> Run:
        if self._run is None:
            self._run = init(**self._wanted)
            self._version = self._run.id  # folders are named after it: it must not change when the run is created later
        return self._run

    @property
    def name(self) -> str:
        """The folder of checkpoints, within the trainer's `default_root_dir`."""
        return self._wanted["project"] or "forge"

    @property
    def version(self) -> Optional[str]:
        """The run's folder within that."""
        return self._version

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, Any], step: Optional[int] = None) -> None:
        self.experiment.log(metrics, step)

    @rank_zero_only
    def log_hyperparams(self, params: Any, *_: Any, **__: Any) -> None:
        self.experiment.log_hparams(params)

    @rank_zero_only
    def after_save_checkpoint(self, checkpoint_callback: Any) -> None:
        if not self._artifacts:
            return
        path, step = newest_of(checkpoint_callback)
        # `save_last` saves the same again, in a file that later steps replace.
        saved = (step, os.path.dirname(path))
        if path and (step is None or saved not in self._registered):
            self._registered.add(saved)
            self._register(path, step, checkpoint_callback)

    def _register(self, path: str, step: Optional[int], callback: Any) -> None:
        score = callback.best_k_models.get(path)
        metrics = None if score is None or not callback.monitor else {callback.monitor: score}
        register(self.experiment, path, "lightning", step, strict=self._wanted["strict"], metrics=metrics)


def newest_of(callback: Any) -> Tuple[str, Optional[int]]:
    """The last file of a `ModelCheckpoint`, and its step, which old versions do not record."""
    path = getattr(callback, "_last_checkpoint_saved", "") or callback.last_model_path or callback.best_model_path
    return path, getattr(callback, "_last_global_step_saved", None)
