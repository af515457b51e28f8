"""Copies the output of a process to the log of its run (`forge.init(log_output=True)`).

`write` is replaced on the very objects in `sys.stdout` and `sys.stderr`, because handlers of `logging` and
progress bars keep those. The original `write` comes first, and nothing after it raises: training prints as before whatever
happens to the copy. A burst waits as `log` does, until memory or the disk has room for it. Output from C code and child processes is not seen; a pipe in place of the file
descriptor would see it, but could hold up, or lose, the program's own output.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from typing import Any, Callable, Deque, Dict, List, NamedTuple, Tuple

from .flag import Flag

INTERVAL_S = 1.0

# The service takes lines of 64 KiB; a character has at most 4 bytes.
LINE_CHARS = 16_000

# Lines waiting for the next request, or for the service. Beyond half of it, the printing thread queues them, so that the spool
# takes what memory does not; beyond the whole, where that is impossible, the oldest are dropped, and counted.
HELD_CHARS = 1_000_000

# The service takes 10,000 lines and 1 MiB a call; as JSON a character has at most 12 bytes.
_LINES_PER_REQUEST = 2_000
_CHARS_PER_REQUEST = 60_000

Post = Callable[[str, Dict[str, Any]], None]


class Lines:
    """Cuts the output of one stream into lines. A carriage return restarts its line, as on a terminal."""

    def __init__(self) -> None:
        self._unfinished = ""

    def add(self, text: str) -> List[str]:
        *lines, rest = (self._unfinished + text).split("\n")
        if len(rest) > LINE_CHARS:  # a progress bar, or a line without an end
            rest = _as_shown(rest) + "\r" * rest.endswith("\r")
            whole = len(rest) - len(rest) % LINE_CHARS
            lines += [rest[:whole]] if whole else []
            rest = rest[whole:]
        self._unfinished = rest
        return [piece for line in lines for piece in _pieces(_as_shown(line))]

    def finish(self) -> List[str]:
        rest, self._unfinished = self._unfinished, ""
        return _pieces(_as_shown(rest)) if rest else []


def _as_shown(line: str) -> str:
    return line.rstrip("\r").rsplit("\r", 1)[-1]


def _pieces(line: str) -> List[str]:
    return [line[at : at + LINE_CHARS] for at in range(0, len(line), LINE_CHARS)] or [""]


class Held:
    """Waiting lines, by stream, within a limit of characters. Not locked."""

    def __init__(self, most_chars: int = HELD_CHARS):
        self._most_chars = most_chars
        self._lines: Deque[Tuple[str, str]] = deque()
        self._chars = 0
        self._dropped = 0

    def add(self, stream: str, lines: List[str]) -> None:
        for line in lines:
            self._lines.append((stream, line))
            self._chars += len(line) + 1

    @property
    def crowded(self) -> bool:
        return self._chars > self._most_chars // 2

    def drop_oldest(self) -> None:
        """Down to the limit."""
        while self._chars > self._most_chars:
            self._chars -= len(self._lines.popleft()[1]) + 1
            self._dropped += 1

    def take(self) -> Tuple[str, List[str]]:
        """The oldest lines of one stream, as many as a request carries, in order; an empty list if there are none."""
        if self._dropped:
            count, self._dropped = format(self._dropped, ","), 0
            return "stderr", ["[forge] %s lines of output left out: more was printed than could be sent" % count]
        stream = self._lines[0][0] if self._lines else ""
        lines: List[str] = []
        chars = 0
        while self._lines and self._lines[0][0] == stream and len(lines) < _LINES_PER_REQUEST and chars < _CHARS_PER_REQUEST:
            line = self._lines.popleft()[1]
            lines.append(line)
            chars += len(line) + 1
        self._chars -= chars
        return stream, lines


class _Watched(NamedTuple):
    name: str
    stream: Any
    write: Any  # ours
    replaced: Any  # a `write` installed by others; None: the class's own
    lines: Lines

    def release(self) -> None:
        if vars(self.stream).get("write") is not self.write:
            return  # somebody has replaced it since, and calls ours
        if self.replaced is None:
            del self.stream.write
        else:
            self.stream.write = self.replaced


class OutputTee:
    """Watches both streams until `stop`. Does nothing in a forked child, whose output is not the run's."""

    def __init__(self, post: Post, may_post: Callable[[], bool], labels: Dict[str, Any]):
        self._post = post
        self._may_post = may_post  # otherwise lines wait here while there is room, and not in the spool
        self._labels = {**labels, "producer": os.urandom(8).hex()}
        self._seq = 0
        self._pid = os.getpid()
        # Re-entrant because a signal handler may print while the main thread is inside `write`.
        self._lock = threading.RLock()
        self._held = Held()
        self._watched: List[_Watched] = []
        self._stopped = Flag()
        self._sending = threading.Lock()
        self._sender = 0  # the thread in `_send`

    def start(self) -> None:
        for name in ("stdout", "stderr"):
            try:
                self._watch(name, getattr(sys, name))
            except Exception:
                continue  # the stream is missing, or cannot be watched
        try:
            threading.Thread(target=self._send_all, name="forge-output", daemon=True).start()
        except RuntimeError:
            pass  # no more threads: held lines are sent at the end

    def _watch(self, name: str, stream: Any) -> None:
        if any(stream is watched.stream for watched in self._watched):
            return
        lines, previous, replaced = Lines(), stream.write, vars(stream).get("write")

        def write(text: Any) -> Any:
            written = previous(text)
            self._note(name, lines, text)
            return written

        stream.write = write
        self._watched.append(_Watched(name, stream, write, replaced, lines))

    def _note(self, name: str, lines: Lines, text: Any) -> None:
        if os.getpid() != self._pid or self._stopped.is_set():  # before the lock, which the fork may have copied held
            return
        try:
            with self._lock:
                self._held.add(name, lines.add(text))
                crowded = self._held.crowded
            if crowded:
                if self._sender != threading.get_ident():  # otherwise a signal handler, or a notice, prints in `_send`
                    self._send()
                with self._lock:
                    self._held.drop_oldest()
        except Exception:
            pass  # such as invalid text, which `previous` would have refused

    def _send_all(self) -> None:
        while not self._stopped.wait(INTERVAL_S):
            if self._may_post():
                self._send()

    def _send(self) -> None:
        with self._sending:
            self._sender = threading.get_ident()
            try:
                self._send_held()
            finally:
                self._sender = 0

    def _send_held(self) -> None:
        while True:
            with self._lock:
                stream, lines = self._held.take()
            if not lines:
                return
            self._seq += 1
            chunks = [line.encode("utf-8", "replace").decode("utf-8") for line in lines]
            self._post("logs", {"chunks": chunks, "stream": stream, "seq": self._seq, **self._labels})

    def stop(self) -> None:
        """Restores the streams, and posts the held lines."""
        if self._stopped.is_set() or os.getpid() != self._pid:
            return
        self._stopped.set()
        for watched in self._watched:
            watched.release()
            with self._lock:
                self._held.add(watched.name, watched.lines.finish())
        self._send()
