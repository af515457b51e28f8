"""Handles the active run when the process ends, dies of an exception, gets a signal to end, or forks."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
from typing import Any, Callable, Optional

from .last_word import failure_text
from .run import Run

_active: Optional[Run] = None
_installed = False
_exit_code: Any = None  # the argument of `sys.exit`


def active() -> Optional[Run]:
    return _active


def activate(run: Optional[Run]) -> None:
    global _active, _exit_code
    _active = run
    _exit_code = None  # from a `sys.exit` that was caught, since the program continues
    if run is not None and run.id is not None:
        _install()


def _install() -> None:
    global _installed
    if _installed:
        return
    _installed = True
    atexit.register(_at_exit)
    sys.exit = _noting_exit_code(sys.exit)
    sys.excepthook = _after(sys.excepthook, _on_crash)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_in_forked_child)
    if threading.current_thread() is threading.main_thread():
        _chain_signals()


def _at_exit() -> None:
    """A script may leave with any exit code. The executor of a job sees it; a run created here relies on `sys.exit`."""
    if _active is None:
        return
    with contextlib.suppress(KeyboardInterrupt):  # pressed while reports are sent; `close` has written the rest to disk
        failed = _exit_code not in (None, 0)
        _active.end("failed" if failed else "succeeded", "exit code %s" % (_exit_code,) if failed else None)


def _noting_exit_code(previous: Callable[..., Any]) -> Callable[..., Any]:
    def noting(code: Any = None) -> Any:
        global _exit_code
        # In another thread it ends that thread; at a prompt or in a notebook, only the cell.
        if threading.current_thread() is threading.main_thread() and not _is_at_prompt():
            _exit_code = code
        return previous(code)

    return noting


def _on_crash(kind: Any, error: Any, _trace: Any) -> None:
    # A mistake typed at a prompt ends nothing; `python -i` gives a prompt even after a script has failed.
    if _is_at_prompt():
        return
    if _active is not None:
        with contextlib.suppress(KeyboardInterrupt):
            _active.fail(failure_text(kind, error))


def _is_at_prompt() -> bool:
    """Also in a notebook, whose kernel sets the prompt too."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive)


def _after(previous: Callable[..., Any], ours: Callable[..., None]) -> Callable[..., Any]:
    def hook(*args: Any) -> None:
        try:
            previous(*args)  # the traceback first: it must not wait for a network
        finally:
            ours(*args)

    return hook


# What ends a process from outside: a stop, and a terminal or a connection that closes. Ctrl-C raises `KeyboardInterrupt`.
_ENDING = ("SIGTERM", "SIGHUP")


def _chain_signals() -> None:
    for name in _ENDING:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None:
            _chain(name, number)


def _chain(name: str, which: int) -> None:
    previous = signal.getsignal(which)
    if previous is signal.SIG_IGN or previous is None:
        return  # as under `nohup`

    def on_signal(number: int, frame: Any) -> None:
        if callable(previous):
            previous(number, frame)  # it may save a checkpoint, log, or raise; `atexit` closes then
            return
        def die() -> None:
            os.kill(os.getpid(), number)

        if _active is not None and _active.cut_short(then=die):
            signal.signal(number, signal.SIG_DFL)
            return  # to `close`, which still has to write the waiting reports
        if _active is not None:
            _active.end("failed", "ended by %s" % name)
        signal.signal(number, signal.SIG_DFL)
        die()

    signal.signal(which, on_signal)


def _in_forked_child() -> None:
    if _active is not None:
        _active.after_fork_in_child()
