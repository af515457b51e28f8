"""Stands in for the parts of W&B that Forge does not have: one warning for each name, and then nothing happens."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, Callable, Dict, Iterator, Optional

from .config import ForgeError
from .notices import say

_CLASSES = frozenset(
    "Api Audio Bokeh Classes EvalTable Graph Histogram Html Image JoinedTable Markdown Molecule Object3D Plotly Settings Table Video".split()
)
_FUNCTIONS = frozenset(
    "link_artifact link_model log_code mark_preempting plot_table restore save setup sweep teardown unwatch use_model".split()
)


def _generate_id(length: int = 8) -> str:
    return os.urandom(length).hex()[:length]


def _agent(_sweep_id: Any = None, function: Optional[Callable[[], Any]] = None, *_: Any, **__: Any) -> None:
    say("forge: warning: Forge has no sweeps: wandb.agent calls its function once, without suggested values")
    if function is not None:
        function()


def _note(text: Any, *_: Any, **__: Any) -> None:
    say("forge: %s" % (text,))


# Small parts that work without W&B, and so need no warning.
_made: Dict[str, Any] = {
    "agent": _agent,
    "errors": SimpleNamespace(Error=ForgeError, CommError=ForgeError, UsageError=ForgeError),
    "termerror": _note,
    "termlog": _note,
    "termwarn": _note,
    "util": SimpleNamespace(generate_id=_generate_id),
}


class LeftOut:
    """An object that takes any arguments, and whose methods do nothing."""

    def __init__(self, *_: Any, **__: Any):
        pass

    def __getattr__(self, name: str) -> Callable[..., "LeftOut"]:
        if name.startswith("_"):
            raise AttributeError(name)  # `copy` and `pickle` ask for these
        return _nothing

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __enter__(self) -> "LeftOut":
        return self

    def __exit__(self, *_: Any) -> None:
        pass


def _nothing(*_: Any, **__: Any) -> LeftOut:
    return LeftOut()


def stand_in(name: str) -> Any:
    """The class, function or module of this name; None if W&B's interface has none that may be left out."""
    if name in _made:
        return _made[name]
    if name in _CLASSES:
        _made[name] = type(name, (LeftOut,), {})
    elif name in _FUNCTIONS:
        _made[name] = _nothing
    elif name == "plot":
        _made[name] = LeftOut()
    else:
        return None
    say("forge: warning: wandb.%s has no counterpart in Forge and is left out" % name)
    return _made[name]
