"""Carries requests from the buffer to the service, through the spool while the service is unreachable.

Two daemon threads. The *sender* posts one request at a time, the oldest first. The *spiller* writes requests that
wait too long to disk, even while the sender is stuck in a slow connection.

One order, from oldest to newest: the request in flight, the spool, the buffer. `_order` guards every move between
them, so nothing overtakes (`spool.py` says why that matters).
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Dict, Optional, Tuple

from . import answers
from .buffer import POINTS_WORTH_SENDING, Buffer, Request
from .config import Config
from .encode import RowEncoder
from .notices import Notices
from .spool import Spool
from .transport import Reply, Transport, Unreachable, retry_after_s

INTERVAL_S = 1.0
RETRY_FIRST_S = 0.5
RETRY_MOST_S = 30.0

# Rows that the sender has not fetched after this long are written to disk.
STUCK_AFTER_S = 3.0

# While closing, a restarting server is tried more than once within the remaining time.
_RETRY_WHILE_CLOSING_S = 1.0


class _InFlight:
    """The request being sent, and whether it is also the first one of the spool."""

    def __init__(self, request: Request, spooled: bool):
        self.request = request
        self.spooled = spooled
        self.since = time.monotonic()


class Uploader:
    def __init__(
        self,
        config: Config,
        buffer: Buffer,
        spool: Spool,
        notices: Notices,
        on_control: Callable[[Dict[str, Any]], None],
    ):
        self._config = config
        self._buffer = buffer
        self._spool = spool
        self._notices = notices
        self._on_control = on_control
        self._transport = Transport(config.endpoint, config.token)
        self._encoder = RowEncoder(lambda why, count: notices.report("points dropped", count, why))
        self._order = threading.Lock()
        self._in_flight: Optional[_InFlight] = None
        self._failures = 0
        self.blocked = False
        self._behind_a_replay = False
        self._closing = threading.Event()
        self._drained = threading.Event()
        self._abandoned = False

    def start(self) -> None:
        for name, loop in (("forge-sender", self._send_all), ("forge-spiller", self._spill_all)):
            threading.Thread(target=self._guarded, args=(loop,), name=name, daemon=True).start()

    @property
    def offline(self) -> bool:
        """Whether the last attempt to reach the service failed, or it no longer accepts this token."""
        return self._failures > 0 or self.blocked

    def flush(self, timeout_s: float) -> bool:
        """Returns True once everything so far has a response; False if the time is up or the service is unreachable."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            self._buffer.wake.set()
            if self._all_sent:
                return True
            if self.offline:
                return False
            time.sleep(0.005)
        return False

    def close(self, timeout_s: float) -> bool:
        """Sends what it can within the time; the rest goes to the spool. Returns whether nothing is left.

        Takes no lock that a logging call holds, so it may run inside a signal handler.
        """
        self._closing.set()
        self._buffer.wake.set()
        try:
            self._drained.wait(timeout_s)
        finally:  # an impatient Ctrl-C must not lose the rest
            all_sent = self._abandon()
        return all_sent

    def _abandon(self) -> bool:
        self._abandoned = True
        self._buffer.wake.set()
        self._buffer.crowded.set()
        all_sent = False
        if self._order.acquire(timeout=2.0):
            try:
                all_sent = self._all_sent
                self._spill()
                self._spool.close()
            finally:
                self._order.release()
        self._notices.flush()
        return all_sent

    def forget(self) -> None:
        """For a forked child, where the threads do not run, and the files and the connection are the parent's."""
        self._abandoned = True
        self._spool.forget()

    @property
    def _all_sent(self) -> bool:
        return self._buffer.empty and self._in_flight is None and self._spool.empty

    def _guarded(self, loop: Callable[[], None]) -> None:
        """A bug in here must neither end reporting nor reach training code."""
        while not self._abandoned:
            try:
                return loop()
            except Exception as error:
                self._notices.report("internal error", 1, "%s: %s" % (type(error).__name__, error))
                time.sleep(INTERVAL_S)

    def _send_all(self) -> None:
        while not self._abandoned:
            self._buffer.wake.clear()
            in_flight = None if self.blocked else self._next()
            if in_flight is not None:
                self._deliver(in_flight)
            elif self._closing.is_set() and not self._behind_a_replay:
                self._drained.set()
                break
            self._rest(in_flight is not None)
        self._transport.close()

    def _rest(self, was_busy: bool) -> None:
        """Waits until the next interval, or until there is enough for a request."""
        if self._closing.is_set():
            time.sleep(0 if was_busy else 0.05)
        elif not was_busy or (self._spool.empty and self._buffer.waiting < POINTS_WORTH_SENDING):
            self._buffer.wake.wait(INTERVAL_S)

    def _next(self) -> Optional[_InFlight]:
        with self._order:
            self._behind_a_replay = not self._spool.adopt()
            if self._behind_a_replay:
                return None
            head = self._spool.head()
            request = head or self._buffer.take(self._config.run_id, self._config.attempt, self._encoder)
            self._in_flight = None if request is None else _InFlight(request, spooled=head is not None)
            return self._in_flight

    def _deliver(self, in_flight: _InFlight) -> None:
        done = self._carry(in_flight.request)
        if done:
            self._failures = 0
        with self._order:
            if self._abandoned:
                return  # `close` has put it in the spool; it will be sent again, which is harmless
            if not done:
                self._spill()
            elif in_flight.spooled:
                self._spool.pop()
            self._in_flight = None

    def _carry(self, request: Request) -> bool:
        """Returns True if the service gave a final response; False if the request must be kept for later."""
        tries = 0
        while not self._abandoned:
            tries += 1
            verdict, pause_s = self._attempt(request, tries)
            if verdict.action == answers.BLOCKED:
                self.blocked = True
                self._notices.report("token not accepted, reports are kept on disk", 1, verdict.detail)
                return False
            if verdict.action != answers.RETRY:
                lost = request.points - sum(piece.points for piece in verdict.replacements)
                if verdict.action != answers.ACCEPTED and lost and not verdict.quiet:
                    self._notices.report("%s dropped" % _noun(request), lost, verdict.detail)
                return all([self._carry(piece) for piece in verdict.replacements])
            self._failures += 1
            self._notices.report("the service does not answer, reports wait", 1, verdict.detail)
            self._pause(pause_s)
        return False

    def _attempt(self, request: Request, tries: int) -> Tuple[answers.Verdict, float]:
        """Returns the verdict, and for a retry the seconds to wait."""
        try:
            reply = self._transport.post(request.route, request.body)
            if reply.status == 415 and self._transport.gzip:
                self._transport.gzip = False
                reply = self._transport.post(request.route, request.body)
        except Unreachable as error:
            return answers.Verdict(answers.RETRY, str(error)), self._jittered_s()
        control = answers.control_of(reply)
        if control is not None:
            self._on_control(control)
        asked_s = retry_after_s(reply.headers)
        if asked_s is None:
            return answers.judge(request, reply, tries), self._jittered_s()
        return answers.judge(request, reply, tries), min(asked_s, RETRY_MOST_S) + _jitter(RETRY_FIRST_S)

    def _jittered_s(self) -> float:
        """Full jitter, so that the clients of a cluster do not all return at once."""
        return _jitter(min(RETRY_MOST_S, RETRY_FIRST_S * 2 ** min(self._failures, 10)))

    def _pause(self, pause_s: float) -> None:
        """Ends early if the run ends."""
        if self._closing.is_set():
            time.sleep(min(pause_s, _RETRY_WHILE_CLOSING_S))
        else:
            self._closing.wait(pause_s)

    def _spill_all(self) -> None:
        while not self._abandoned:
            self._buffer.crowded.wait(INTERVAL_S)
            self._buffer.crowded.clear()
            with self._order:
                if not self._abandoned and self._should_spill():
                    self._spill()

    def _should_spill(self) -> bool:
        if self._buffer.empty:
            return self.offline and self._in_flight is not None and not self._in_flight.spooled
        in_flight = self._in_flight
        stuck = in_flight is not None and time.monotonic() - in_flight.since > STUCK_AFTER_S
        behind = self._behind_a_replay or not self._spool.empty
        return self.offline or stuck or behind or self._buffer.half_full

    def _spill(self) -> None:
        """Writes everything in memory to disk, oldest first. Call it under `_order`."""
        in_flight = self._in_flight
        if in_flight is not None and not in_flight.spooled and self._spool.empty:
            in_flight.spooled = self._spool.append(in_flight.request)
            if not in_flight.spooled and self._abandoned:
                self._lose(in_flight.request)
        while True:
            request = self._buffer.take(self._config.run_id, self._config.attempt, self._encoder)
            if request is None:
                break
            if not self._spool.append(request):
                if not self._abandoned and not self._buffer.half_full:
                    self._buffer.put_back(request)  # no usable disk: memory holds it for as long as it can
                    break
                self._lose(request)
        self._spool.sync()

    def _lose(self, request: Request) -> None:
        self._notices.report("%s lost: no room in the spool" % _noun(request), request.points)


def _jitter(most_s: float) -> float:
    import random  # loaded on the first failure; it costs 3 ms

    return random.uniform(0, most_s)


def _noun(request: Request) -> str:
    return "points" if request.route == "metrics" else "reports to %s" % request.route
