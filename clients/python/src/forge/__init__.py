"""Reports running training code to a Forge server.

    import forge

    with forge.init({"lr": 3e-4}):
        for step in range(1000):
            forge.log({"loss": loss}, step)

The destination comes from the environment (`SERVICE_ENABLED`, `SERVICE_ENDPOINT`, `SERVICE_RUN_ID`, `SERVICE_TOKEN`),
which the platform sets in every job and `forge run -- python train.py` everywhere else. In a notebook, or a script
started by hand, `forge.init(project="demo")` creates a run, as the person who signed in with `forge login`.
With `SERVICE_ENABLED=0` every function here does nothing.
"""

from __future__ import annotations

import os
import sys
from types import MethodType
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, TypeVar

from . import hooks
from .config import ConfigError, ForgeError, asked_for, config_of
from .run import Run

if TYPE_CHECKING:
    from .rollouts import Environment
    from typing_extensions import Concatenate, ParamSpec

    _P = ParamSpec("_P")

_T = TypeVar("_T")

__all__ = [
    "ConfigError",
    "ForgeError",
    "Run",
    "alert",
    "cached_scores",
    "control",
    "describe",
    "environments",
    "finish",
    "flush",
    "init",
    "log",
    "log_artifact",
    "log_hparams",
    "log_samples",
    "resume_from",
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
    log_output: bool = False,
) -> Run:
    """Starts reporting, and returns the run.

    Call it after set-up: billing of the run starts here.

    hparams           a (nested) dictionary, or an object with attributes such as `argparse.Namespace`
    project           creates a run in this project if the environment names no run to report to: on the
                      server that FORGE_HOST names or `forge login` signed in at. Its `name` and `tags` are optional. Its
                      end is reported when the process ends: `failed` after an exception or `sys.exit` with a code
    monitor_hardware  samples GPUs and the machine every 15 seconds
    strict            problems raise `forge.ForgeError` instead of being warnings: here unless the service takes the
                      reports, in `log` for a value that is not a number, in `finish` unless everything arrived
    rank_zero_only    in a distributed run only rank 0 reports
    log_output        copies Python's stdout and stderr to the run's log. For runs created here: in a job and
                      under `forge run` the output is already collected, and this does nothing

    Raises `forge.ConfigError` unless it is clear whether to report, and where. An unreachable server is not an
    error (except with `strict`): reports are kept on disk and sent when it is back; a new run is created then.

    A second call during an active run, such as in a re-executed notebook cell, adds its `hparams` and returns that
    run. If it names another run, it warns (with `strict`, it raises): call `finish` first to start another.
    """
    wanted = {"project": project, "name": name, "tags": [tags] if isinstance(tags, str) else list(tags)}
    asked = asked_for(os.environ, wanted)
    current = hooks.active()
    if current is not None and not current.ended:
        current.again(hparams, asked, strict)
        return current
    config = config_of(os.environ, None if project is None else wanted)
    run = Run(config, strict=strict, rank_zero_only=rank_zero_only, asked=asked)
    hooks.activate(run)
    run.begin(hparams, monitor_hardware, log_output)
    return run


def control() -> Dict[str, Any]:
    """The platform's request: `{action, reason, deadline}`; action `none`, `checkpoint_and_exit` or `exit`."""
    return _run().control


def cached_scores(
    rubric: str, judge: str, samples: Iterable[Any], score: Callable[[List[Any]], Iterable[Any]]
) -> List[float]:
    """Scores of samples by a rubric, from the service where the same judge scored the same sample before.

    rubric   `owner/name`; the next version of a rubric retires the scores of the one before
    judge    the model that judges with its revision, e.g. `qwen3-32b@1a2b3c`; another model has its own scores
    samples  texts, or anything that JSON can hold
    score    is called once, with the samples whose score is not known, and returns one for each: a number within the
             scale of the rubric, or `(number, {criterion: number})`

    If the service cannot be reached, all samples are judged, and a warning says why.
    """
    from . import scores

    return scores.cached(_run().address, rubric, judge, samples, score)


def environments() -> List[Environment]:
    """The RL environments of the job, in the order of its spec; outside a job there are none.

    Each has `ref`, `digest`, `path`, `weight` and `args`, and runs a rollout with any OpenAI-compatible client:

        for environment in forge.environments():
            reward = environment.rollout(client)["reward"]
    """
    from . import rollouts

    return rollouts.environments()


def resume_from() -> Optional[str]:
    """The checkpoint from which training continues, with its optimizer and its step; `None`: from the beginning.

    After a pause or a retry this is the newest checkpoint that the run registered, and for a job with
    `init_from: {load: full_state}` the artifact that it names. It is the `path` that was passed to `log_artifact`. May be
    called before `init`, so that loading it costs nothing.
    """
    earlier = os.environ.get("FORGE_RESUME_FROM")
    if not earlier and os.environ.get("FORGE_INIT_LOAD") == "full_state":
        earlier = os.environ.get("FORGE_INIT_FROM")
    return earlier or None


def _run() -> Run:
    run = hooks.active()
    if run is None:
        raise ForgeError("call forge.init() first" + _of_workers())
    return run


def _of_workers() -> str:
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is None or multiprocessing.parent_process() is None:
        return ""
    return (
        "; a process that multiprocessing starts is part of the run only if it is forked after that. Otherwise return its "
        "values to the parent, and log them there"
    )


def _of_active_run(method: Callable[Concatenate[Run, _P], _T]) -> Callable[_P, _T]:
    """The method, called on the active run: with the same parameters and help, for people and for type checkers."""

    def function(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        return method(_run(), *args, **kwargs)

    function.__name__ = function.__qualname__ = getattr(method, "__name__")
    function.__doc__ = method.__doc__
    # A bound method has no `self`: `inspect.signature`, and so `help`, shows the rest.
    setattr(function, "__wrapped__", MethodType(method, Run))
    return function


def log(values: Mapping[str, Any], step: Optional[int] = None) -> None:
    _run().log(values, step)  # spelled out: called in the inner loop, where unpacking arguments would be noticeable


log.__doc__ = Run.log.__doc__
log_hparams = _of_active_run(Run.log_hparams)
log_samples = _of_active_run(Run.log_samples)
alert = _of_active_run(Run.alert)
describe = _of_active_run(Run.describe)
log_artifact = _of_active_run(Run.log_artifact)
should_stop = _of_active_run(Run.should_stop)
flush = _of_active_run(Run.flush)
finish = _of_active_run(Run.finish)
