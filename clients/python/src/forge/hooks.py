"""Handles the active run when the process ends, dies of an exception, gets a signal to end, or forks."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from typing import Any, Callable, Optional

from .run import Run, failure_text

# A container is killed some time after SIGTERM; this much of it is ours.
CLOSE_WITHIN_S = 10.0

_active: Optional[Run] = None
_installed = False


def active() -> Optional[Run]:
    return _active


def activate(run: Optional[Run]) -> None:
    global _active
    _active = run
    if run is not None and run.id is not None:
        _install()


def _install() -> None:
    global _installed
    if _installed:
        return
    _installed = True
    atexit.register(_at_exit)
    sys.excepthook = _after(sys.excepthook, _on_crash)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_forked_child)
    if threading.current_thread() is threading.main_thread():
        _chain_sigterm()


def _at_exit() -> None:
    """Reports no end, because a script may leave with any exit code; the executor sees the exit code."""
    if _active is not None:
        _active.close(CLOSE_WITHIN_S)


def _on_crash(kind: Any, error: Any, _trace: Any) -> None:
    if _active is not None:
        _active.finish("failed", message=failure_text(kind, error), timeout=CLOSE_WITHIN_S)


def _after(previous: Callable[..., Any], ours: Callable[..., None]) -> Callable[..., Any]:
    def hook(*args: Any) -> None:
        try:
            previous(*args)  # the traceback first: it must not wait for a network
        finally:
            ours(*args)

    return hook


def _chain_sigterm() -> None:
    previous = signal.getsignal(signal.SIGTERM)
    if previous is signal.SIG_IGN or previous is None:
        return

    def on_sigterm(number: int, frame: Any) -> None:
        if callable(previous):
            previous(number, frame)  # it may save a checkpoint, log, or raise; `atexit` closes then
            return
        if _active is not None:
            _active.close(CLOSE_WITHIN_S)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, on_sigterm)


def _in_forked_child() -> None:
    if _active is not None:
        _active.after_fork_in_child()
