"""Queues and sends a process's reports: everything between a run and the network."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from .address import Address
from .buffer import Buffer
from .config import Config, spool_bytes, spool_root
from .encode import RowEncoder
from .answers import PARTS
from .last_word import LeftOut, last_word
from .lost import Lost
from .notices import Notices, say
from .points import Request
from .spool import Amount, Spool, run_folder
from .texts import storable_json
from .uploader import Uploader
from .values import Scalar

_MESSAGE_CHARS = 2000


class Reporter:
    """Starts its threads with the first report. `on_start` is called then, `on_control` with the platform's requests."""

    def __init__(
        self,
        config: Config,
        on_control: Callable[[Dict[str, Any]], None],
        on_start: Callable[[], None] = lambda: None,
        env: Mapping[str, str] = os.environ,
    ):
        self.notices = Notices()
        self.buffer = Buffer()
        self.folder = run_folder(spool_root(env), config.run_id)
        self.address = config.address
        self.started = False
        self._is_closing = False
        self._left_out = LeftOut()
        self._after_close: Optional[Callable[[], None]] = None
        self._config = config
        self._env = env
        self._on_start = on_start
        # Re-entrant because a signal handler may report while the main thread is in `_start`.
        self._starting = threading.RLock()
        self._spool = Spool(self.folder, config, spool_bytes(env))
        self._uploader = Uploader(
            config, self.buffer, self._spool, self.notices, on_control, self._find_address, self._take_address
        )

    @property
    def lost(self) -> Lost:
        return self._uploader.lost

    @property
    def trouble(self) -> str:
        """Why the last attempt to send failed."""
        return self._uploader.trouble

    @property
    def keeps_up(self) -> bool:
        """Whether the queue is likely to be sent soon, rather than kept on disk."""
        return not self._uploader.offline and not self.buffer.half_full

    def put(self, at: float, step: Optional[int], keys: Tuple[str, ...], numbers: Tuple[Scalar, ...]) -> None:
        if not self.started:
            self._start()
        if not self.buffer.put(at, step, keys, numbers):
            self.notices.report("points dropped: more is logged than can be sent or written", len(keys))

    def post(self, route: str, fields: Dict[str, Any], samples: Optional[List[str]] = None) -> None:
        """Queues a request after everything logged before."""
        if not self.started:
            self._start()
        head: Dict[str, Any] = {"run_id": self._config.run_id}
        if route == "lifecycle" and self._config.attempt is not None:
            head["attempt"] = self._config.attempt
        text = json.dumps({**head, **fields}, allow_nan=False, default=str)
        if samples is not None:
            text = '%s,"samples":[%s]}' % (text[:-1], ",".join(samples))
        text = self._storable(route, text)
        weight = max(1, len(fields.get(PARTS.get(route, ""), ())) if samples is None else len(samples))
        if not self.buffer.put_request(Request(route, text.encode(), weight)):
            self.notices.report("reports to %s dropped: more is logged than can be sent or written" % route, weight)

    def _storable(self, route: str, text: str) -> str:
        cleaned, places = storable_json(text)
        if places:
            where = "%s: %s" % (route, ", ".join(places[:3]))
            self.notices.report("texts with characters that cannot be stored, which became U+FFFD", len(places), where)
        return cleaned

    def leave_out(self, what: str, count: int, why: str) -> None:
        """Values that cannot be reported: named now, and counted in the last line."""
        self._left_out = LeftOut(self._left_out.count + count, why)
        self.notices.report(what, count, why)

    def post_lifecycle(self, event: str, message: Any = None) -> None:
        report = {"event": event, "ts": RowEncoder(lambda _why, _count: None).timestamp(time.time())}
        if message is not None:
            report["message"] = str(message)[:_MESSAGE_CHARS]
        self.post("lifecycle", report)

    def flush(self, timeout_s: float, patient: bool = True) -> bool:
        return not self.started or self._uploader.flush(timeout_s, patient)

    def close(self, timeout_s: float, silent_if_fine: bool) -> Optional[str]:
        """Prints the outcome of the reports. Returns the problem, or `None` if everything arrived."""
        if not self.started:
            return None
        self._is_closing = True
        try:
            self._uploader.close(timeout_s)
        finally:  # also after an impatient Ctrl-C
            told = self._last_word(timeout_s, is_fork=silent_if_fine)
            if told is not None or not silent_if_fine:
                say(told or last_word(self._url, Amount(), Amount(), self.folder, "", ""))
            self._is_closing = False
            if self._after_close is not None:
                self._after_close()
        return told

    def drop(self) -> None:
        """Ends without a message, and keeps no reports for later."""
        self._uploader.close(0)
        self._spool.discard()

    def cut_short(self, then: Callable[[], None]) -> bool:
        """Ends a `close` that waits for the service, and then calls `then`. Returns False if there is none.

        For a signal handler, so it takes no lock.
        """
        if not self._is_closing:
            return False
        self._after_close = then
        self._uploader.cut_short()
        return True

    def forget(self) -> None:
        """In a forked child."""
        self._uploader.forget()

    def _start(self) -> None:
        with self._starting:
            if self.started:
                return
            self.started = True
            try:
                self._uploader.start()
            except RuntimeError as error:  # no more threads: reports go to the spool at the end
                self.notices.report("reports wait for the end of the process", 1, str(error))
            self._on_start()

    @property
    def _url(self) -> Optional[str]:
        return None if self.address is None else self.address.url

    def _last_word(self, timeout_s: float, is_fork: bool) -> Optional[str]:
        left, lost = self._spool.left, self.lost
        if left == Amount() and lost.amount == Amount() and self._left_out.count == 0:
            return None
        if is_fork and not self.trouble and lost.amount == Amount() and self._left_out.count == 0:
            return None  # the parent sends the rest
        why_left = self.trouble or ("cut short" if self._after_close else "not sent within %g s" % timeout_s)
        return last_word(self._url, left, lost.amount, self.folder, why_left, lost.why, self._left_out)

    def _find_address(self) -> Address:
        if self._config.address is not None:
            return self._config.address
        from . import claim  # loaded when needed, so that `import forge` is cheap

        return claim.find_address(self.folder, self._config, self._env)

    def _take_address(self, address: Address) -> None:
        self.address = address
        if self._config.address is None:
            say("forge: reporting to %s" % address.url)


def at_child_exit(close: Callable[..., Any], *arguments: Any) -> None:
    """Children of `multiprocessing` exit without running `atexit`."""
    finalizers = sys.modules.get("multiprocessing.util")
    if finalizers is not None:
        finalizers.Finalize(None, close, args=arguments, exitpriority=100)
