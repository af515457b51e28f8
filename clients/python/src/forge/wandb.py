"""For code written for Weights & Biases: `import forge.wandb as wandb` in place of `import wandb`.

    wandb.init(project="demo", config={"lr": 3e-4})
    wandb.log({"loss": loss})
    wandb.summary["best"] = best
    wandb.finish()

It has `init`, `log`, `config`, `summary`, `finish`, `alert`, artifacts (`wandb_artifacts.py`) and `run`, whose `name`, `notes` and `tags`
can be set (with `define_metric`, `watch` and `login`, which do nothing). Other common names, such as `Image` and `Table`, exist
and are left out with a warning (`wandb_left_out.py`). The package `wandb` is not needed. If the environment names a run, it receives
the reports and the name, and `project` is ignored.
"""

from __future__ import annotations

import os
import tempfile
import threading
from typing import Any, Dict, Iterator, Mapping, MutableMapping, Optional, Tuple

from . import init as _init
from .config import ForgeError
from .describing import tag_list
from .notices import say
from .run import Run as _Run
from .values import flatten, to_scalar, to_step
from .wandb_artifacts import Artifact, use_artifact
from .wandb_artifacts import log_artifact as _log_artifact
from .wandb_left_out import LeftOut, stand_in

__all__ = "AlertLevel Artifact Error alert config define_metric finish init log log_artifact login run summary use_artifact watch".split()

Error = ForgeError

_SUMMARY = "summary/"

# Arguments of `wandb.init` that concern W&B's own operation, and not the run.
_OF_WANDB_ALONE = frozenset(
    "allow_val_change config_exclude_keys config_include_keys dir entity force magic monitor_gym reinit save_code settings "
    "sync_tensorboard anonymous mode".split()
)


class AlertLevel:
    INFO, WARN, ERROR = "INFO", "WARN", "ERROR"


class Config(MutableMapping[str, Any]):
    """The hyperparameters, as items or attributes; assigned values are reported."""

    def __init__(self, run: _Run):
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_values", {})

    def update(self, *params: Any, allow_val_change: Any = None, **named: Any) -> None:
        """Also takes an object with attributes, such as `argparse.Namespace`, and reports all at once."""
        given: Dict[str, Any] = dict(named)
        for one in params:
            given = {**(one if isinstance(one, Mapping) else vars(one)), **given}
        self._values.update(given)
        self._run.log_hparams(given)

    def setdefaults(self, params: Mapping[str, Any]) -> None:
        self.update({key: value for key, value in params.items() if key not in self._values})

    def as_dict(self) -> Dict[str, Any]:
        return dict(self._values)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        raise Error("a hyperparameter that was reported cannot be taken back: %s" % key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)  # `copy` and `pickle` ask before anything is set
        try:
            return self._values[key]
        except KeyError:
            raise AttributeError("no hyperparameter %r was set" % key) from None

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value

    def __repr__(self) -> str:
        return repr(self._values)


class Summary(MutableMapping[str, Any]):
    """The last value of each metric, and values set here: numbers as metrics `summary/…`, others as hyperparameters."""

    def __init__(self, owner: "Run"):
        self._owner = owner
        self._last: Dict[str, Any] = {}

    def seen(self, values: Mapping[str, Any]) -> None:
        """Keeps no tensors or pictures, which would fill the memory."""
        self._last.update({key: value for key, value in values.items() if isinstance(value, (int, float, str))})

    def update(self, *params: Any, **named: Any) -> None:
        given = dict(*params, **named)
        self.seen(_numbers(given))
        self._owner.report_summary({_SUMMARY + key: value for key, value in given.items()})

    def __getitem__(self, key: str) -> Any:
        return self._last[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        del self._last[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._last)

    def __len__(self) -> int:
        return len(self._last)

    def __repr__(self) -> str:
        return repr(self._last)


class Run:
    """One run. `step` is the step of the next `log`."""

    def __init__(self, forge_run: _Run, name: Optional[str], project: Optional[str], tags: Any = ()):
        self.forge = forge_run
        self.project = project
        # W&B's own, which mean nothing here.
        self.entity, self.group, self.job_type, self.sweep_id = "", None, None, None
        self.resumed = self.offline = False
        self._tags = tuple(tag_list(tags or ()))
        self._notes: Optional[str] = None
        self._name = name
        self._dir: Optional[str] = None
        self.config = Config(forge_run)
        self.summary = Summary(self)
        self.step = 0
        self._counting = threading.RLock()

    @property
    def id(self) -> Optional[str]:
        return self.forge.id

    @property
    def name(self) -> Optional[str]:
        return self._name or self.forge.id

    @name.setter
    def name(self, name: str) -> None:
        self.forge.describe(name)
        self._name = name

    @property
    def notes(self) -> Optional[str]:
        return self._notes

    @notes.setter
    def notes(self, notes: Optional[str]) -> None:
        self.forge.describe(notes=notes or "")
        self._notes = notes

    @property
    def tags(self) -> Tuple[str, ...]:
        return self._tags

    @tags.setter
    def tags(self, tags: Any) -> None:
        self._tags = tuple(tag_list(tags or ()))
        self.forge.describe(tags=self._tags)

    @property
    def dir(self) -> str:
        """A folder for files of the run, which `save` and `log_artifact` may take from there."""
        if self._dir is None:
            self._dir = tempfile.mkdtemp(prefix="forge-wandb-")
        return self._dir

    @property
    def path(self) -> str:
        return "%s/%s" % (self.project or "", self.id or "")

    @property
    def url(self) -> Optional[str]:
        return self.forge.url

    @property
    def disabled(self) -> bool:
        return not self.forge.enabled

    def get_url(self) -> Optional[str]:
        return self.url

    def log(self, data: Mapping[str, Any], step: Optional[int] = None, commit: Optional[bool] = None, **_: Any) -> None:
        """The numbers of one step: of `step`, or else of the one after the last call.

        commit=False  the next call is for the same step, as after a call that names its step
        """
        try:
            at = self._place(None if step is None else to_step(step), commit)
            values = _numbers(data)
        except (AttributeError, TypeError, ValueError):
            return self.forge.log(data, step)  # which explains the valid arguments
        self.summary.seen(values)
        self.forge.log(values, at)

    def _place(self, step: Optional[int], commit: Optional[bool]) -> int:
        with self._counting:
            at = self.step if step is None else step
            if at >= self.step:
                self.step = at + 1 if (step is None if commit is None else commit) else at
            return at

    def report_summary(self, values: Mapping[str, Any]) -> None:
        given = _numbers(values)
        texts = {key: value for key, value in given.items() if value is None or isinstance(value, str)}
        if texts:
            self.forge.log_hparams(texts)
        if len(texts) < len(given):
            self.forge.log({key: value for key, value in given.items() if key not in texts}, max(self.step - 1, 0))

    def finish(self, exit_code: Optional[int] = None, quiet: Any = None) -> None:
        self.forge.finish("failed" if exit_code else "succeeded", message="exit code %d" % exit_code if exit_code else None)

    def alert(self, title: str, text: str = "", level: Any = None, wait_duration: Any = None) -> None:
        """`level`: `INFO`, `WARN` or `ERROR`, as a text or of `wandb.AlertLevel`."""
        self.forge.alert(title, "info" if level is None else str(getattr(level, "value", level)).lower(), text)

    def log_artifact(
        self, artifact_or_path: Any, name: Optional[str] = None, type: Optional[str] = None, aliases: Any = None, **_: Any
    ) -> Artifact:
        """Models become checkpoints of the run, everything else its reports."""
        return _log_artifact(self.forge, max(self.step - 1, 0), artifact_or_path, name, type, aliases)

    def log_model(self, path: Any, name: Optional[str] = None, aliases: Any = None) -> None:
        self.log_artifact(path, name, "model", aliases)

    def use_artifact(self, artifact_or_name: Any, *_: Any, **__: Any) -> Artifact:
        return use_artifact(artifact_or_name)

    def define_metric(self, *_: Any, **__: Any) -> None:
        """Does nothing: every metric has its own steps."""

    def watch(self, *_: Any, **__: Any) -> None:
        """Does nothing: gradients are not logged automatically."""

    def __getattr__(self, attribute: str) -> Any:
        """Such as `save`, which also exists here."""
        found = None if attribute.startswith("_") else stand_in(attribute)
        if found is None:
            raise AttributeError("a run of forge.wandb has no %s" % attribute)
        return found

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.forge.__exit__(kind, error, trace)


def _numbers(values: Mapping[str, Any]) -> Dict[str, Any]:
    """With dotted names, and numbers where the values can be read as such: to W&B a bool is a number."""
    found = {}
    for key, value in flatten(values):
        if isinstance(value, LeftOut):
            continue  # a warning has named it
        try:
            found[key] = int(value) if isinstance(value, bool) else to_scalar(value)
        except Exception:
            found[key] = value
    return found


_current: Optional[Run] = None


def init(
    entity: Any = None,
    project: Optional[str] = None,
    *,
    config: Any = None,
    name: Optional[str] = None,
    tags: Any = None,
    notes: Optional[str] = None,
    mode: Optional[str] = None,
    **others: Any,
) -> Run:
    """Starts reporting. Without a run named by the environment it needs a `project`.

    config      the hyperparameters, a dictionary or an object with attributes
    name, tags  of the run; one that exists already is renamed, and gets the tags in addition to its own
    notes       of the run
    mode        `disabled` reports nothing; others make no difference: unsent reports are kept

    Other arguments of `wandb.init` are ignored; those describing the run are named on stderr.
    """
    global _current
    unknown = sorted(key for key, value in others.items() if value is not None and key not in _OF_WANDB_ALONE)
    if unknown:
        say("forge: warning: wandb.init ignores %s" % ", ".join(unknown))
    forge_run = _begin(project, name, tags, mode or os.environ.get("WANDB_MODE"))
    if _current is None or _current.forge is not forge_run:
        _current = Run(forge_run, name, project, tags)
        _describe(_current, name, notes)
    if config is not None:
        _current.config.update(config)
    return _current


def _begin(project: Optional[str], name: Optional[str], tags: Any, mode: Optional[str]) -> _Run:
    if mode == "disabled":
        return _Run(None)
    return _init(project=project, name=name, tags=[tags] if isinstance(tags, str) else tags or ())


def _describe(run: Run, name: Optional[str], notes: Optional[str]) -> None:
    """A run that `init` created has its name and tags."""
    if name is not None and not run.forge.owns_run:
        run.forge.describe(name)
    if run.tags and not run.forge.owns_run:
        run.forge.describe(add_tags=run.tags)
    if notes is not None:
        run.notes = notes


def _active() -> Run:
    if _current is None:
        raise Error("call wandb.init() first")
    return _current


def log(data: Mapping[str, Any], step: Optional[int] = None, commit: Optional[bool] = None, **_: Any) -> None:
    _active().log(data, step, commit)


def alert(title: str, text: str = "", level: Any = None, wait_duration: Any = None) -> None:
    _active().alert(title, text, level, wait_duration)


def finish(exit_code: Optional[int] = None, quiet: Any = None) -> None:
    """Ends the run, if there is one: `failed` with an exit code other than 0."""
    if _current is not None:
        _current.finish(exit_code)


def log_artifact(
    artifact_or_path: Any, name: Optional[str] = None, type: Optional[str] = None, aliases: Any = None, **_: Any
) -> Artifact:
    return _active().log_artifact(artifact_or_path, name, type, aliases)


def define_metric(*_: Any, **__: Any) -> None:
    """Does nothing: every metric has its own steps."""


def watch(*_: Any, **__: Any) -> None:
    """Does nothing: gradients are not logged automatically."""


def login(*_: Any, **__: Any) -> bool:
    """Does nothing: `forge login`, or the environment, signs in."""
    return True


def __getattr__(attribute: str) -> Any:
    if attribute == "run":
        return None if _current is None or _current.forge.ended else _current
    if attribute in ("config", "summary"):
        return getattr(_active(), attribute)
    found = None if attribute.startswith("_") else stand_in(attribute)
    if found is not None:
        return found
    raise AttributeError("forge.wandb has no %s; it has %s" % (attribute, ", ".join(__all__)))
