"""Stands in for the parts of W&B that Forge does not have: one warning for each name, and then nothing happens."""

from __future__ import annotations

from typing import Any, Callable, Dict

from .notices import say

_CLASSES = frozenset(
    "Artifact Audio Graph Histogram Html Image Molecule Object3D Plotly Settings Table Video".split()
)
_FUNCTIONS = frozenset(
    "link_artifact log_artifact log_code log_model mark_preempting restore save unwatch use_artifact use_model".split()
)

_made: Dict[str, Any] = {}


class LeftOut:
    """An object that takes any arguments, and whose methods do nothing."""

    def __init__(self, *_: Any, **__: Any):
        pass

    def __getattr__(self, name: str) -> Callable[..., "LeftOut"]:
        if name.startswith("_"):
            raise AttributeError(name)  # `copy` and `pickle` ask for these
        return _nothing

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
