"""Reports running training code to a Forge server.

    import forge

    with forge.init({"lr": 3e-4}):
        for step in range(1000):
            forge.log({"loss": loss}, step)

The platform sets where to report in the environment (`SERVICE_ENABLED`, `SERVICE_ENDPOINT`, `SERVICE_RUN_ID`,
`SERVICE_TOKEN`). With `SERVICE_ENABLED=0` every function here does nothing.
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
    """Starts reporting. Raises `ConfigError` unless the environment clearly says whether to report, and where.

    Call it after set-up: billing of the run starts here. `hparams` is a (nested) dictionary or an object with
    attributes. With `strict`, problems raise an exception instead of a warning. In a distributed run only rank 0
    reports, unless `rank_zero_only=False`. A second call during an active run adds its `hparams` and returns that run.
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
    """Logs numbers by name for one step, by default one after the last: `forge.log({"loss": 0.3}, step=7)`.

    Returns at once. Nested dictionaries become dotted names. Values that are not numbers are left out with a warning
    (with `strict`, they raise).
    """
    _run().log(values, step)


def log_hparams(params: Any) -> None:
    """Adds to the run's hyperparameters, from a (nested) dictionary or an object; nested names become dotted."""
    _run().log_hparams(params)


def log_samples(
    step: int, samples: Iterable[Mapping[str, Any]], avg_reward: Any = None, accuracy: Any = None
) -> None:
    """Logs a validation round: samples are dictionaries of `user`, `assistant`, `env`, `reward`, `extra`."""
    _run().log_samples(step, samples, avg_reward, accuracy)


def log_artifact(kind: str, path: str, format: str, step: Optional[int] = None, **options: Any) -> Optional[Dict[str, Any]]:
    """Registers what the run produced; returns the service's reply. Raises `ForgeError` if that fails.

    With `upload=True` the local file `path` is first copied to the service's object store; otherwise others must be
    able to find `path` where it is.
    """
    return _run().log_artifact(kind, path, format, step, **options)


def should_stop() -> bool:
    """Whether the platform asks the run to end; save a checkpoint first if `control()` says so."""
    return _run().should_stop()


def control() -> Dict[str, Any]:
    """What the platform asks: `{action, reason, deadline}`; action `none`, `checkpoint_and_exit` or `exit`."""
    return _run().control


def flush(timeout: float = 10.0) -> bool:
    """Waits up to `timeout` seconds until everything logged so far has reached the service; returns whether it has."""
    return _run().flush(timeout)


def finish(exit_state: str = "succeeded", *, message: Optional[str] = None, timeout: float = 30.0) -> None:
    """Reports the end (`succeeded` or `failed`) and sends pending reports; those that cannot be sent stay on disk."""
    _run().finish(exit_state, message=message, timeout=timeout)


def _run() -> Run:
    run = hooks.active()
    if run is None:
        raise ForgeError("call forge.init() first")
    return run
