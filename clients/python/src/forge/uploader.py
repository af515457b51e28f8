"""Carries requests from the buffer to the service, through the spool while the service is unreachable.

Two daemon threads. The *sender* posts one request at a time, the oldest first. The *spiller* writes requests that
wait too long to disk, even while the sender is stuck in a slow connection.

One order, from oldest to newest: the request in flight, the spool, the buffer. `_order` guards every move between
them, so nothing overtakes (`spool.py` says why that matters).
"""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Dict, Optional

from . import answers
from .address import Address
from .buffer import POINTS_WORTH_SENDING, Buffer
from .config import Config
from .flag import Flag
from .lost import Losses, Lost
from .notices import Notices
from .pauses import IN_A_HURRY_S, asked_s, backoff_s
from .points import Points, Request, readdressed
from .spool import Amount, Spool
from .transport import Reply, Transport, Unreachable

# Requests with points are at least this far apart, however often training code logs.
INTERVAL_S = 0.5

# The outcome of a request.
_DONE, _KEPT, _BEHIND = "done", "kept", "behind"

# Rows that the sender has not fetched after this long are written to disk.
STUCK_AFTER_S = 3.0

# This much of the time for closing is reserved for writing unsent requests to disk.
_SPILL_WITHIN_S = 1.0

_NOT_SENT = "reports cannot be sent now, and wait"


class _InFlight:
    """The request being sent, and whether it is also the first one of the spool."""

    def __init__(self, request: Request, spooled: bool):
        self.request = request
        self.spooled = spooled
        self.since = time.monotonic()


class Uploader:
    """`find_address` is called if the run is still to be created; `on_address` once it has been."""

    def __init__(
        self,
        config: Config,
        buffer: Buffer,
        spool: Spool,
        notices: Notices,
        on_control: Callable[[Dict[str, Any]], None],
        find_address: Callable[[], Address],
        on_address: Callable[[Address], None] = lambda _address: None,
    ):
        self._config = config
        self._buffer = buffer
        self._spool = spool
        self._notices = notices
        self._on_control = on_control
        self._find_address = find_address
        self._on_address = on_address
        self._transport: Optional[Transport] = None
        self._address: Optional[Address] = None
        self._losses = Losses(notices)
        self._points = Points(config.run_id, config.attempt, self._losses.left_out)
        self.trouble = ""  # why the last attempt failed
        self._order = threading.Lock()
        self._in_flight: Optional[_InFlight] = None
        self._failures = 0
        self._behind_a_replay = False
        self._hurry = Flag()
        self._closing = threading.Event()
        self._drained = threading.Event()
        self._cut_short = False
        self._abandoned = False

    def start(self) -> None:
        for name, loop in (("forge-sender", self._send_all), ("forge-spiller", self._spill_all)):
            threading.Thread(target=self._guarded, args=(loop,), name=name, daemon=True).start()

    @property
    def lost(self) -> Lost:
        return self._losses.so_far

    @property
    def offline(self) -> bool:
        """Whether the last attempt to deliver something failed."""
        return self._failures > 0

    def flush(self, timeout_s: float, patient: bool = True) -> bool:
        """Whether everything so far got a final response within the time; unless `patient`, the first failure ends the wait."""
        deadline = time.monotonic() + timeout_s
        if patient:
            self._hurry.set()
        try:
            while time.monotonic() < deadline:
                self._buffer.wake.set()
                if self._all_sent:
                    return True
                if self.offline and not patient:
                    return False
                time.sleep(0.005)
            return False
        finally:
            if not self._closing.is_set():
                self._hurry.clear()

    def close(self, timeout_s: float) -> bool:
        """Sends as much as possible within the time; the rest goes to the spool. Returns whether the queue is empty.

        Takes no lock that a logging call holds, so it may run inside a signal handler.
        """
        self._closing.set()
        self._hurry.set()
        self._buffer.wake.set()
        deadline = time.monotonic() + timeout_s - _SPILL_WITHIN_S
        try:
            while not (self._drained.is_set() or self._cut_short) and time.monotonic() < deadline:
                time.sleep(0.005)
        finally:  # an impatient Ctrl-C must not lose the rest
            all_sent = self._abandon()
        return all_sent

    def cut_short(self) -> None:
        """Ends the wait of a `close` under way. For a signal handler."""
        self._cut_short = True

    def _abandon(self) -> bool:
        self._abandoned = True
        self._buffer.wake.set()
        self._buffer.crowded.set()
        all_sent = False
        if self._order.acquire(timeout=_SPILL_WITHIN_S):
            try:
                all_sent = self._all_sent
                self._spill()
                self._spool.close()
            finally:
                self._order.release()
        else:
            self._losses.lose(Request("metrics", b"", self._buffer.waiting), "the disk does not respond")
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
            if self._address is None and not self._settle_address():
                continue
            closing = self._closing.is_set()  # read first: the last report is queued before it is set
            in_flight = self._next()
            if in_flight is not None:
                self._deliver(in_flight)
            elif closing and not self._behind_a_replay:
                self._drained.set()
                break
            self._rest(in_flight is not None)
        if self._transport is not None:
            self._transport.close()

    def _settle_address(self) -> bool:
        try:
            address = self._find_address()
        except Exception as error:  # training and the next attempt must not suffer
            self._fail(str(error), backoff_s(self._failures))
            return False
        self._go_to(address)
        self._on_address(address)
        self._failures = 0
        return True

    def _go_to(self, address: Address) -> None:
        with self._order:
            self._spool.readdress(self._config.note(address))
        self._address = address
        self._transport = Transport(address.endpoint, address.token)

    def _fail(self, why: str, pause_s: float) -> None:
        self._failures += 1
        self.trouble = why
        self._notices.report(_NOT_SENT, 1, why)
        self._pause(pause_s)

    def _rest(self, was_busy: bool) -> None:
        """Waits for the next interval or for enough points; if there was nothing to send, for the next row."""
        if self._closing.is_set():
            time.sleep(0 if was_busy else 0.05)
        elif not was_busy and not self._behind_a_replay:
            self._buffer.wait_for_row(INTERVAL_S, self._hurry)
        elif not was_busy or (self._spool.empty and self._buffer.waiting < POINTS_WORTH_SENDING):
            self._buffer.wake.wait(INTERVAL_S)

    def _next(self) -> Optional[_InFlight]:
        with self._order:
            self._behind_a_replay = not self._adopt()
            if self._behind_a_replay:
                return None
            head = self._spool.head()
            self._losses.unreadable(self._spool.unreadable)
            request = head or self._buffer.take(self._points.making())
            self._in_flight = None if request is None else _InFlight(request, spooled=head is not None)
            return self._in_flight

    def _adopt(self) -> bool:
        """If the disk allows no lock, reports of earlier processes stay there: waiting would block everything else."""
        try:
            return self._spool.adopt()
        except OSError as error:
            self._notices.report("reports of an earlier process stay in the spool", 1, str(error))
            return True

    def _deliver(self, in_flight: _InFlight) -> None:
        outcome = _DONE if self._taken_as_block(in_flight) else self._carry(in_flight.request)
        if outcome == _DONE:
            self._failures = 0
        with self._order:
            if self._abandoned:
                return  # `close` has put it in the spool; it will be sent again, which is harmless
            if outcome == _KEPT:
                self._spill()
            elif outcome == _BEHIND:
                self._put_behind(in_flight)
            elif in_flight.spooled:
                self._spool.pop()
            self._in_flight = None

    def _taken_as_block(self, in_flight: _InFlight) -> bool:
        """Sends a block once. If the service does not accept it for any reason, the request is JSON from then on."""
        block, address, transport = in_flight.request.block, self._address, self._transport
        if not block or address is None or transport is None:
            return False
        try:
            if self._points.as_blocks:
                reply = transport.post_block(readdressed(block, self._config.run_id, address.run_id))
                self._heed(reply)
                if answers.accepts(reply):
                    return True
                self._points.as_blocks = answers.is_of_the_moment(reply)
                if self._points.as_blocks:
                    self._fail(answers.describe(reply), asked_s(reply) or backoff_s(self._failures))
        except Exception as error:  # tried again as JSON, and reported then
            self.trouble = str(error)
        with self._order:
            in_flight.request = self._points.in_json(in_flight.request)
        return False

    def _put_behind(self, in_flight: _InFlight) -> None:
        """The others go first: this request would block them forever."""
        self._spill()
        if in_flight.spooled and self._spool.left == Amount().plus(in_flight.request):
            return  # nothing waits for it
        if in_flight.spooled:
            self._keep(in_flight.request)
            self._spool.pop()
        elif not self._buffer.put_request(in_flight.request):
            self._lose(in_flight.request)

    def _carry(self, request: Request) -> str:
        """Delivers the request unless it has to be kept; waits for the service in between."""
        tries = 0
        while not self._abandoned:
            tries += 1
            verdict = self._attempt(request, tries)
            if verdict.action not in (answers.RETRY, answers.BEHIND):
                return self._settle(request, verdict)
            if verdict.pause_s == answers.TOKEN_PAUSE_S:
                self._note_refused_token()
            self._fail(verdict.detail, backoff_s(self._failures) if verdict.pause_s is None else verdict.pause_s)
            if verdict.action == answers.BEHIND:
                return _BEHIND
        return _KEPT

    def _note_refused_token(self) -> None:
        if self._closing.is_set():
            self._drained.set()  # the rest of the time would change nothing
        if self._config.address is None:  # the process that created the run may have got another token for it
            try:
                self._go_to(self._find_address())
            except Exception as error:
                self.trouble = str(error)

    def _settle(self, request: Request, verdict: answers.Verdict) -> str:
        lost = request.points - sum(piece.points for piece in verdict.replacements)
        if verdict.action != answers.ACCEPTED and lost and not verdict.quiet:
            self._losses.refused(request._replace(points=lost), verdict.detail)
        outcomes = [self._carry(piece) for piece in verdict.replacements]
        return next((outcome for outcome in outcomes if outcome != _DONE), _DONE)

    def _attempt(self, request: Request, tries: int) -> answers.Verdict:
        try:
            verdict = self._post(request, tries)
        except Unreachable as error:
            return answers.Verdict(answers.RETRY, str(error))
        except Exception as error:  # an unreachable address, an unreadable response: the request must not be lost
            return answers.Verdict(answers.retry_or_behind(tries), "%s: %s" % (type(error).__name__, error))
        if verdict.action == answers.RETRY and self._transport is not None:
            self._transport.close()  # another connection may get past whatever responded
        return verdict

    def _post(self, request: Request, tries: int) -> answers.Verdict:
        address, transport = self._address, self._transport
        if address is None or transport is None:
            return answers.Verdict(answers.RETRY, "the run has no address")
        body = readdressed(request.body, self._config.run_id, address.run_id)
        reply = transport.post(request.route, body)
        if reply.status == 415 and transport.gzip:
            transport.gzip = False
            reply = transport.post(request.route, body)
        self._heed(reply)
        verdict = answers.judge(request, reply, tries)
        pause_s = asked_s(reply)
        return verdict if pause_s is None or verdict.action != answers.RETRY else verdict._replace(pause_s=pause_s)

    def _heed(self, reply: Reply) -> None:
        control = answers.control_of(reply)
        if control is not None:
            self._on_control(control)

    def _pause(self, pause_s: float) -> None:
        """Ends early if the run ends, or somebody waits for its reports."""
        if self._hurry.is_set():
            time.sleep(min(pause_s, IN_A_HURRY_S))
        else:
            self._hurry.wait(pause_s)

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
            request = self._buffer.take(self._points.making())
            if request is None:
                break
            self._make_room(request)
            if not self._spool.append(request):
                if not self._abandoned and not self._buffer.half_full:
                    self._buffer.put_back(request)  # no usable disk: memory holds it for as long as it can
                    break
                self._lose(request)
        self._spool.sync()

    def _keep(self, request: Request) -> None:
        self._make_room(request)
        if not self._spool.append(request):
            self._lose(request)

    def _make_room(self, request: Request) -> None:
        points, outputs = self._spool.make_room(request)
        for lost in [Request("metrics", b"", points)] * bool(points) + [Request("logs", b"", 1)] * outputs:
            self._lose(lost)

    def _lose(self, request: Request) -> None:
        self._losses.lose(request, self._spool.trouble or "no room in the spool")
