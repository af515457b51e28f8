"""Warnings about problems during training: counted, and printed at most once a minute."""

from __future__ import annotations

import threading
import time
from typing import Callable, Dict, Tuple

INTERVAL_S = 60.0


def _warn(text: str) -> None:
    import logging  # loaded on the first warning: importing it costs 6 ms

    logging.getLogger("forge").warning(text)


class Notices:
    """`report` may be called from any thread and never raises."""

    def __init__(self, write: Callable[[str], None] = _warn, clock: Callable[[], float] = time.monotonic):
        self._write = write
        self._clock = clock
        self._lock = threading.RLock()
        self._counts: Dict[str, Tuple[int, str]] = {}
        self._last_told: Dict[str, float] = {}

    def report(self, what: str, count: int = 1, detail: str = "") -> None:
        """`what` is a constant text, by which problems are counted; only the newest detail is shown."""
        with self._lock:
            so_far, _ = self._counts.get(what, (0, ""))
            self._counts[what] = (so_far + count, detail)
            last = self._last_told.get(what)
            due = last is None or self._clock() - last >= INTERVAL_S
        if due:
            self._tell(what)

    def flush(self) -> None:
        """Prints what was counted and not printed yet."""
        for what in list(self._counts):
            self._tell(what)

    def _tell(self, what: str) -> None:
        with self._lock:
            count, detail = self._counts.pop(what, (0, ""))
            self._last_told[what] = self._clock()
        if not count:
            return
        text = "forge: %s (%d)" % (what, count)
        try:
            self._write(text + (": " + detail if detail else ""))
        except Exception:
            pass
