"""Reports running training code to a Forge server.

    import forge

    with forge.init({"lr": 3e-4}):
        for step in range(1000):
            forge.log({"loss": loss}, step)

Where to report stands in the environment (`SERVICE_ENABLED`, `SERVICE_ENDPOINT`, `SERVICE_RUN_ID`, `SERVICE_TOKEN`),
which the platform sets in every job and `forge run -- python train.py` everywhere else. In a notebook, or a script
started by hand, `forge.init(project="demo")` makes a run of its own, as the person who signed in with `forge login`.
With `SERVICE_ENABLED=0` every function here does nothing.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, Mapping, Optional

from . import hooks
from .config import ConfigError, ForgeError, config_of
from .run import CLOSE_WITHIN_S, Run

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
    project: Optional[str] = None,
    name: Optional[str] = None,
    tags: Iterable[str] = (),
    monitor_hardware: bool = True,
    strict: bool = False,
    rank_zero_only: bool = True,
) -> Run:
    """Starts reporting, and returns the run.

    Call it after set-up: billing of the run starts here.

    hparams           a (nested) dictionary, or an object with attributes such as `argparse.Namespace`
    project           makes a run of its own in this project, where the environment names no run to report to: on the
                      server that FORGE_HOST names or `forge login` signed in at. Its `name` and `tags` are optional. Its
                      end is reported when the process ends: `failed` after an exception or `sys.exit` with a code
    monitor_hardware  samples GPUs and the machine every 15 seconds
    strict            problems raise `forge.ForgeError` instead of being warnings: here unless the service takes the
                      reports, in `log` for what is no number, in `finish` unless everything arrived
    rank_zero_only    in a distributed run only rank 0 reports

    Raises `forge.ConfigError` unless it is clear whether to report, and where. A server that cannot be reached is no
    error (but with `strict`): reports are kept on disk and sent when it is back; a run of its own is created then.

    A second call during an active run adds its `hparams` and returns that run; call `finish` first to start another.
    """
    current = hooks.active()
    if current is not None and not current.ended:
        if hparams is not None:
            current.log_hparams(hparams)
        return current
    wanted = None if project is None else {"project": project, "name": name, "tags": list(tags)}
    run = Run(config_of(os.environ, wanted), strict=strict, rank_zero_only=rank_zero_only)
    hooks.activate(run)
    run.begin(hparams, monitor_hardware)
    return run


def log(values: Mapping[str, Any], step: Optional[int] = None) -> None:
    """Logs numbers by name for one step: `forge.log({"loss": 0.3, "val": {"acc": 0.9}}, step=7)`.

    values  names of 1 to 250 characters, and numbers: int, float, NaN, infinities, tensors and arrays of one element.
            Nested dictionaries become dotted names (`val.acc`). Anything else, also a bool, is left out with a warning
            that names it (with `strict`, it raises `forge.ForgeError`); the rest is logged
    step    a whole number; by default one after the last. The same name and step again replaces the value

    Returns at once: a background thread sends every second or at 1,000 points. While the service cannot be reached,
    points wait on disk. It waits, for up to 5 seconds, only when more is logged than can be sent and written.
    """
    _run().log(values, step)


def log_hparams(params: Any) -> None:
    """Adds to the run's hyperparameters, or changes them: `forge.log_hparams({"model": {"depth": 4}})`.

    params  a (nested) dictionary or an object with attributes; nested names become dotted. Values are numbers, texts
            (the first 6,000 characters), booleans and None; others are kept as text
    """
    _run().log_hparams(params)


def log_samples(
    step: int, samples: Iterable[Mapping[str, Any]], avg_reward: Any = None, accuracy: Any = None
) -> None:
    """Logs a validation round: what was generated at this step, and how good it was.

    samples               dictionaries of `user`, `assistant`, `env`, `reward`, `extra`; large rounds are split
    avg_reward, accuracy  one number each for the round
    """
    _run().log_samples(step, samples, avg_reward, accuracy)


def log_artifact(
    kind: str,
    path: str,
    format: str,
    step: Optional[int] = None,
    *,
    size_bytes: Optional[int] = None,
    metrics: Optional[Mapping[str, Any]] = None,
    upload: bool = False,
) -> Optional[Dict[str, Any]]:
    """Registers what the run produced: `forge.log_artifact("checkpoint", "out/step-100.pt", "torch", step=100)`.

    kind        `checkpoint`, `hf_export`, `eval_report` or `merged_model`
    path        where others find it: a path here, or the address of an object (`s3://…`)
    format      of the file, e.g. `safetensors`
    size_bytes  taken from the file if left out
    metrics     numbers at that step, by which the best artifact is found
    upload      first copies the local file `path` to the object store of the service

    Registers at once and returns the service's reply. Raises `forge.ForgeError` if the service refuses it or cannot be
    reached for a minute. A mistake in the call (no such file, `upload=True` where the service has no store) is told on
    stderr and returns None; it raises only with `strict`.
    """
    return _run().log_artifact(kind, path, format, step, size_bytes=size_bytes, metrics=metrics, upload=upload)


def should_stop() -> bool:
    """Whether the platform asks the run to end; save a checkpoint first if `control()` says so. Costs nothing."""
    return _run().should_stop()


def control() -> Dict[str, Any]:
    """What the platform asks: `{action, reason, deadline}`; action `none`, `checkpoint_and_exit` or `exit`."""
    return _run().control


def flush(timeout: float = 10.0) -> bool:
    """Waits up to `timeout` seconds until everything logged so far has reached the service; returns whether it has.

    What has not is kept, and sent later.
    """
    return _run().flush(timeout)


def finish(exit_state: str = "succeeded", *, message: Optional[str] = None, timeout: float = CLOSE_WITHIN_S) -> None:
    """Reports the end, and sends what waits, within `timeout` seconds.

    exit_state  `succeeded` or `failed`
    message     why, for people

    The last line on stderr says whether everything was sent, or what is kept where and how to send it. With `strict`,
    raises `forge.ForgeError` unless everything arrived. Without it the process does the same when it ends.
    """
    _run().finish(exit_state, message=message, timeout=timeout)


def _run() -> Run:
    run = hooks.active()
    if run is None:
        raise ForgeError("call forge.init() first")
    return run
