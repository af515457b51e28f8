"""Reports running training code to a Forge server.

    import forge

    with forge.init({"lr": 3e-4}):
        for step in range(1000):
            forge.log({"loss": loss}, step)

Where to report is in the environment (`SERVICE_ENABLED`, `SERVICE_ENDPOINT`, `SERVICE_RUN_ID`, `SERVICE_TOKEN`),
which the platform sets. `SERVICE_ENABLED=0` turns everything here into nothing.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, Mapping, Optional

from . import hooks
from .config import ConfigError, ForgeError, read_config
from .run import Run

__all__ = [
    "ConfigError",
    "ForgeError",
    "Run",
    "control",
    "finish",
    "flush",
    "init",
    "log",
    "log_artifact",
    "log_hparams",
    "log_samples",
    "should_stop",
]

__version__ = "0.1.0"


def init(
    hparams: Any = None,
    *,
    monitor_hardware: bool = True,
    strict: bool = False,
    rank_zero_only: bool = True,
) -> Run:
    """Begins reporting. Raises `ConfigError` unless the environment says clearly whether and where to.

    Call it when set-up is done: the run is billed from here. `hparams` is a (nested) dictionary or an object with
    attributes. `strict` raises what else would be a warning. In a distributed run only rank 0 reports, unless
    `rank_zero_only=False`. A second call while a run is active adds its `hparams` and answers the same run.
    """
    current = hooks.active()
    if current is not None and not current.ended:
        if hparams is not None:
            current.log_hparams(hparams)
        return current
    run = Run(read_config(os.environ), strict=strict, rank_zero_only=rank_zero_only)
    hooks.activate(run)
    run.begin(hparams, monitor_hardware)
    return run


def log(values: Mapping[str, Any], step: Optional[int] = None) -> None:
    """See `Run.log`."""
    _run().log(values, step)


def log_hparams(params: Any) -> None:
    """See `Run.log_hparams`."""
    _run().log_hparams(params)


def log_samples(
    step: int, samples: Iterable[Mapping[str, Any]], avg_reward: Any = None, accuracy: Any = None
) -> None:
    """See `Run.log_samples`."""
    _run().log_samples(step, samples, avg_reward, accuracy)


def log_artifact(kind: str, path: str, format: str, step: Optional[int] = None, **options: Any) -> Optional[Dict[str, Any]]:
    """See `Run.log_artifact`."""
    return _run().log_artifact(kind, path, format, step, **options)


def should_stop() -> bool:
    """See `Run.should_stop`."""
    return _run().should_stop()


def control() -> Dict[str, Any]:
    """See `Run.control`."""
    return _run().control


def flush(timeout: float = 10.0) -> bool:
    """See `Run.flush`."""
    return _run().flush(timeout)


def finish(exit_state: str = "succeeded", *, message: Optional[str] = None, timeout: float = 30.0) -> None:
    """See `Run.finish`."""
    _run().finish(exit_state, message=message, timeout=timeout)


def _run() -> Run:
    run = hooks.active()
    if run is None:
        raise ForgeError("call forge.init() first")
    return run
