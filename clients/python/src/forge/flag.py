"""A flag that one thread waits for and any thread sets, also from a signal handler."""

from __future__ import annotations

import threading


class Flag:
    """A `threading.Event` for one waiting thread, whose `set` takes no lock.

    A signal handler may set it while the thread that it interrupts is inside `set`: `Event` would wait there for a lock
    that this thread holds, and a process asked to end would hang until it is killed.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._bell = threading.Lock()  # unlocked: it has rung, and nobody has heard it yet
        self._bell.acquire()

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        try:
            self._bell.release()
        except RuntimeError:
            pass  # it has rung already

    def clear(self) -> None:
        self._is_set = False
        self._bell.acquire(blocking=False)

    def wait(self, timeout_s: float) -> bool:
        """Whether it is set. May return early, after a `set` that was cleared."""
        if not self._is_set:
            self._bell.acquire(timeout=timeout_s)
        return self._is_set
