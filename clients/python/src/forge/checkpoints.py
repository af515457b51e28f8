"""Registers the checkpoints that a training library saved."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from .config import ForgeError
from .notices import say
from .run import Run


def register(
    run: Run, path: str, format: str, step: Optional[int], *, strict: bool, metrics: Optional[Mapping[str, Any]] = None
) -> None:
    """A checkpoint that cannot be registered causes a warning, and ends training only if `strict`."""
    try:
        run.log_artifact("checkpoint", path, format, step, metrics=metrics)
    except ForgeError as error:
        if strict:
            raise
        say("forge: error: checkpoint not registered: %s" % error)
