"""The queue between training code and the sending thread."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Deque, Optional, Tuple, Union

from .encode import Row
from .flag import Flag
from .points import BlockPoints, JsonPoints, Request
from .values import Scalar

# Maximum points in memory; beyond it `put` waits for room.
CAPACITY = 100_000

# The service accepts 10,000 points a call. Larger calls cost it less per point.
MAX_POINTS_PER_REQUEST = 10_000

# From this size on the queue is sent at once instead of at the next interval.
POINTS_WORTH_SENDING = 1_000

# After a rest, the first row is sent at once, with what the same training step logs this soon after it.
LINGER_S = 0.02

# One `log` call with more keys than this is cut into several rows, so that a request can always be filled.
MAX_ROW_KEYS = 1_000

# Longest time that `put` blocks training code when neither network nor disk keep up; then rows are dropped, without
# waiting again, until there is room.
PATIENCE_S = 5.0

# Encoding holds the interpreter lock. Training code that waits for it gets it after this many points.
_POINTS_BETWEEN_YIELDS = 500
_YIELD_S = 0.00005


class Buffer:
    """Many threads put; `take` is called by one thread at a time.

    `put` is what training code waits for: no I/O, no encoding, one uncontended lock. The lock is re-entrant because a
    signal handler may log while the main thread is inside `put`.
    """

    def __init__(self, capacity: int = CAPACITY, patience_s: float = PATIENCE_S):
        self.wake = Flag()
        self.crowded = Flag()
        self.sender_rests = False
        self._capacity = capacity
        self._patience_s = patience_s
        self._half = capacity // 2
        self._lock = threading.RLock()
        self._queue: Deque[Union[Row, Request]] = deque()
        # Each is written by one side only, so neither side needs the other's lock.
        self._points_in = 0
        self._points_out = 0
        self._gave_up = False
        self.refused = 0
        self._step = -1

    @property
    def waiting(self) -> int:
        """Points in memory that have not been taken yet."""
        return self._points_in - self._points_out

    @property
    def empty(self) -> bool:
        return not self._queue

    @property
    def half_full(self) -> bool:
        return self.waiting > self._half

    def put(self, at: float, step: Optional[int], keys: Tuple[str, ...], values: Tuple[Scalar, ...]) -> bool:
        """`step` None: one after the last. Returns False if there was no room and the values are lost."""
        count = len(keys)
        if self._points_in - self._points_out + count > self._capacity and not self._wait_for_room(count):
            return False
        with self._lock:
            if step is None:
                step = self._step + 1
            self._step = step
            if count <= MAX_ROW_KEYS:
                self._queue.append(Row(at, step, keys, values))
            else:
                self._append_pieces(at, step, keys, values)
            self._points_in += count
        waiting = self._points_in - self._points_out
        if (self.sender_rests or waiting >= POINTS_WORTH_SENDING) and not self.wake.is_set():
            self.wake.set()
        if waiting > self._half and not self.crowded.is_set():
            self.crowded.set()
        return True

    def put_request(self, request: Request) -> bool:
        """Keeps the order among the rows: values logged earlier are sent earlier."""
        weight = request.weight
        if self._points_in - self._points_out + weight > self._capacity and not self._wait_for_room(weight):
            return False
        with self._lock:
            self._queue.append(request)
            self._points_in += weight
        self.wake.set()
        return True

    def wait_for_row(self, timeout_s: float, hurry: Flag) -> None:
        """For the sender, after an interval without anything to send: the next row ends the wait."""
        self.sender_rests = True
        if self.empty:  # a row that came just before would not ring
            self.wake.wait(timeout_s)
        self.sender_rests = False
        hurry.wait(LINGER_S)

    def put_back(self, request: Request) -> None:
        """Puts back the request taken last, so that it is taken next."""
        self._queue.appendleft(request)
        self._points_out -= request.weight

    def take(self, points: Union[JsonPoints, BlockPoints]) -> Optional[Request]:
        """Takes the oldest entries as one request, rows by way of `points`."""
        while self._queue:
            oldest = self._queue[0]
            if isinstance(oldest, Request):
                self._queue.popleft()
                self._points_out += oldest.weight
                return oldest
            self._take_rows(points)
            request = points.request()
            if request is not None:
                return request
        return None

    def _take_rows(self, points: Union[JsonPoints, BlockPoints]) -> None:
        count = since_yield = 0
        while self._queue and not points.full:
            row = self._queue[0]
            if not isinstance(row, Row) or count + len(row.keys) > MAX_POINTS_PER_REQUEST:
                break
            self._queue.popleft()
            self._points_out += len(row.keys)
            points.add(row)
            count += len(row.keys)
            since_yield += len(row.keys)
            if since_yield >= _POINTS_BETWEEN_YIELDS:
                since_yield = 0
                if not self.half_full:  # otherwise the training code may be waiting for room, not for the interpreter
                    time.sleep(_YIELD_S)

    def _append_pieces(self, at: float, step: int, keys: Tuple[str, ...], values: Tuple[Scalar, ...]) -> None:
        for start in range(0, len(keys), MAX_ROW_KEYS):
            end = start + MAX_ROW_KEYS
            self._queue.append(Row(at, step, keys[start:end], values[start:end]))

    def _wait_for_room(self, count: int) -> bool:
        deadline = time.monotonic() + (0 if self._gave_up else self._patience_s)
        self.crowded.set()
        self.wake.set()
        # An entry larger than the queue is accepted once the queue is empty enough; it would never fit otherwise.
        enough = max(self._capacity - count, self._half)
        while self._points_in - self._points_out > enough:
            if time.monotonic() >= deadline:
                self._gave_up = True
                with self._lock:
                    self.refused += count
                return False
            time.sleep(0.001)
        self._gave_up = False
        return True
