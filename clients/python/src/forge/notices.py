"""Warnings about problems during training: counted, and each printed at most once a minute."""

from __future__ import annotations

import sys
import threading
import time
from typing import Callable, Dict, Tuple

INTERVAL_S = 60.0

# How many texts about one kind of problem are counted separately; further ones are counted together.
TEXTS_PER_KIND = 8
MOST_TEXTS = 64

_TEXT_CHARS = 500


def say(text: str) -> None:
    """One line for people, on stderr. Never raises, even if stderr is closed, broken, or already being written to."""
    stream = sys.stderr
    if stream is None:  # `print` would take stdout
        return
    try:
        print(text, file=stream, flush=True)
    except Exception:
        pass


def _warn(text: str) -> None:
    import logging  # loaded on the first warning: importing it costs 6 ms

    logging.getLogger("forge").warning(text)


class Notices:
    """`report` may be called from any thread and never raises."""

    def __init__(self, write: Callable[[str], None] = _warn, clock: Callable[[], float] = time.monotonic):
        self._write = write
        self._clock = clock
        self._lock = threading.RLock()
        # By kind and text; each entry keeps its newest text.
        self._counts: Dict[Tuple[str, str], Tuple[int, str]] = {}
        self._last_told: Dict[Tuple[str, str], float] = {}

    def report(self, what: str, count: int = 1, detail: str = "") -> None:
        """`what` is a constant text, the kind of problem. Another detail is another problem, up to a limit."""
        detail = detail[:_TEXT_CHARS]
        with self._lock:
            problem = self._problem(what, detail)
            so_far, _ = self._counts.get(problem, (0, ""))
            self._counts[problem] = (so_far + count, detail)
            last = self._last_told.get(problem)
            due = last is None or self._clock() - last >= INTERVAL_S
        if due:
            self._tell(problem)

    def flush(self) -> None:
        """Prints the counted problems that were not printed yet."""
        for problem in list(self._counts):
            self._tell(problem)

    def _problem(self, what: str, detail: str) -> Tuple[str, str]:
        """The detail is left out where too many differ, such as in a number."""
        known = self._last_told
        if (what, detail) in known:
            return what, detail
        is_full = len(known) >= MOST_TEXTS or sum(kind == what for kind, _ in known) >= TEXTS_PER_KIND
        return (what, "") if is_full else (what, detail)

    def _tell(self, problem: Tuple[str, str]) -> None:
        with self._lock:
            count, detail = self._counts.pop(problem, (0, ""))
            self._last_told[problem] = self._clock()
        if not count:
            return
        text = "forge: %s (%d)" % (problem[0], count)
        try:
            self._write(text + (": " + detail if detail else ""))
        except Exception:
            pass
