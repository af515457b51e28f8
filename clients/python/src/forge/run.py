"""The run, as training code uses it."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Tuple

from .address import Address
from .buffer import Buffer, Request
from .config import Config, ForgeError, spool_bytes, spool_root
from .encode import RowEncoder
from .last_word import last_word
from .notices import Notices
from .samples import number_or_none, sample_pieces
from .spool import Amount, Spool, run_folder
from .uploader import Uploader
from .values import Scalar, hparams, scalars, to_step

if TYPE_CHECKING:
    from .monitor import Monitor

# How long `init` waits for the service before it lets training start without a response.
INIT_PATIENCE_S = 5.0

# How long the end of a process may take. A container is killed some time after SIGTERM; this much of it is ours.
CLOSE_WITHIN_S = 10.0

_PLAIN = frozenset((float, int))
_NO_CONTROL = {"action": "none", "reason": None, "deadline": None}


class Run:
    """One run that this process reports, created by `forge.init`. Its methods are the functions of the module.

    Problems become warnings, which end no training; with `strict`, they raise `forge.ForgeError`. As a context manager
    (`with forge.init() as run:`) it ends as `failed` if an exception leaves the block.
    """

    def __init__(self, config: Optional[Config], *, strict: bool = False, rank_zero_only: bool = True):
        self._config = config
        self._strict = strict
        self._ended = False
        self._is_fork = False
        self._control = _NO_CONTROL
        self._monitor: Optional[Monitor] = None
        # Every process of a distributed run calls the same code; only one of them reports.
        self._speaks = config is not None and (config.rank == 0 or not rank_zero_only)
        self._samples_nodes = config is not None and config.local_rank == 0
        if config is not None:
            self._set_up(config)

    def _set_up(self, config: Config) -> None:
        self._started = False
        self._starting = threading.Lock()
        self._notices = Notices()
        self._buffer = Buffer()
        self._folder = run_folder(spool_root(os.environ), config.run_id)
        self._spool = Spool(self._folder, config, spool_bytes(os.environ))
        self._address = config.address
        self._uploader = Uploader(
            config, self._buffer, self._spool, self._notices, self._take_control, self._find_address, self._take_address
        )

    def begin(self, params: Any, monitor_hardware: bool) -> None:
        """Reports `running` last: that mark is the billing start (specification "Job lifecycle" 1)."""
        config = self._config
        if config is None:
            return
        if params is not None:
            self.log_hparams(params)
        if self._speaks:
            self._lifecycle("running")
            self._say_where(config, self._uploader.flush(INIT_PATIENCE_S, patient=self._strict))
        if self._samples_nodes:
            from .monitor import Monitor  # here and below: loaded when needed, so that `import forge` is cheap

            self._monitor = Monitor(config, self._speaks, monitor_hardware, self._post_soon)
            self._monitor.start()

    def _say_where(self, config: Config, arrived: bool) -> None:
        lost = self._uploader.lost
        if self._strict and (not arrived or lost.amount != Amount()):
            self._close(0)
            why = lost.why or self._uploader.trouble or "no response within %d s" % INIT_PATIENCE_S
            raise ForgeError("the service at %s does not take reports of %s: %s" % (config.endpoint, config.run_id, why))
        if arrived:
            # A run that was created late has said so already.
            if config.address is not None:
                _say("forge: reporting to %s" % config.address.url)
        else:
            why = self._uploader.trouble or "no response yet"
            _say("forge: nothing can be sent now (%s); reports are kept in %s until it can" % (why, self._folder))

    def __repr__(self) -> str:
        if self._config is None:
            return "<forge.Run, not reporting>"
        state = "ended" if self._ended else "reporting" if self._speaks else "left to rank 0"
        return "<forge.Run %s, %s, %s>" % (self.id, state, self.url or "not created yet")

    @property
    def url(self) -> Optional[str]:
        """The page of the run; `None` if nothing is reported, or the run could not be created yet."""
        if self._config is None or self._address is None:
            return None
        return self._address.url

    @property
    def enabled(self) -> bool:
        """Whether this process reports anything."""
        return self._speaks and not self._ended

    @property
    def ended(self) -> bool:
        """Whether `finish` was called; what is logged afterwards is ignored."""
        return self._ended

    @property
    def id(self) -> Optional[str]:
        """The id of the run, a local one (`local_…`) until it could be created; `None` if nothing is reported."""
        if self._config is None:
            return None
        return self._address.run_id if self._address is not None else self._config.run_id

    @property
    def owns_run(self) -> bool:
        """Whether `init` created the run, so that nobody else reports its end."""
        return self._config is not None and self._config.owns_run and not self._is_fork

    def log(self, values: Mapping[str, Any], step: Optional[int] = None) -> None:
        """Logs numbers by name for one step; the default step is one after the last.

        Nested dictionaries become dotted names, tensors of one element their number. Values that are not numbers are
        left out with a warning. Returns at once: nothing is sent, encoded or written on this thread.
        """
        if not self._speaks or self._ended:
            return self._say_ended()
        at = time.time()
        try:
            # In C for nearly all calls, which have a flat dictionary of plain numbers.
            if type(values) is dict and _PLAIN.issuperset(map(type, values.values())):
                keys: Tuple[str, ...] = tuple(values)
                numbers: Tuple[Scalar, ...] = tuple(values.values())
            else:
                keys, numbers = self._reduced(values)
            if step is not None and type(step) is not int:
                step = to_step(step)
            if keys:
                self._put(at, step, keys, numbers)
        except Exception as error:
            self._refuse("values not logged", str(error))

    def _say_ended(self) -> None:
        """A process other than rank 0 is silent on purpose; a run that has ended is not expected to be."""
        if self._ended and self._speaks:
            self._notices.report("not logged: the run has ended; forge.init starts another")

    def log_hparams(self, params: Any) -> None:
        """Adds to the run's hyperparameters; nested ones become dotted names."""
        if not self._speaks or self._ended:
            return self._say_ended()
        try:
            self._post_soon("hparams", {"params": hparams(params)})
        except Exception as error:
            self._refuse("hparams not logged", str(error))

    def log_samples(
        self,
        step: int,
        samples: Iterable[Mapping[str, Any]],
        avg_reward: Any = None,
        accuracy: Any = None,
    ) -> None:
        """Logs a validation round: samples of `user`, `assistant`, `env`, `reward`, `extra`. Large rounds are split."""
        if not self._speaks or self._ended:
            return
        try:
            pieces = sample_pieces(samples)
            for index, piece in enumerate(pieces):
                round_part = {
                    "step": to_step(step),
                    "avg_reward": number_or_none(avg_reward),
                    "accuracy": number_or_none(accuracy),
                    "chunk_index": index,
                    "total_chunks": len(pieces),
                }
                self._post_soon("validation", round_part, samples=piece)
        except Exception as error:
            self._refuse("samples not logged", str(error))

    def log_artifact(
        self,
        kind: str,
        path: str,
        format: str,
        step: Optional[int] = None,
        *,
        size_bytes: Optional[int] = None,
        metrics: Optional[Mapping[str, Any]] = None,
        upload: bool = False,
    ) -> Optional[Dict[str, Any]]:
        """Registers what the run produced; returns the service's reply, or `None` where there is none.

        `upload=True` first copies the local file `path` to the service's object store; otherwise others must be able
        to find `path` where it is (on a container executor, an object-store URI).

        Raises `ForgeError` if the service refuses it or cannot be reached for a minute. A mistake in the call (no such
        file, `upload=True` where the service has no store) is told at once, and raises only with `strict`.
        """
        if self._config is None or not self._speaks or self._ended:
            return None
        from . import artifacts

        try:
            artifact = artifacts.Artifact(
                kind=kind,
                path=os.fspath(path),
                format=format,
                step=None if step is None else to_step(step),
                size_bytes=size_bytes,
                metrics=dict(scalars(metrics or {})[0]),
            )
            artifacts.check(artifact, upload)
            if self._address is None:
                return self._register_later(artifacts.body_of(self._config, artifact), upload)
            return artifacts.register(self._config, self._address, artifact, upload)
        except (TypeError, ValueError, artifacts.ArtifactError) as error:
            self._tell_at_once("artifact not registered: %s" % error)
            return None

    def should_stop(self) -> bool:
        """Whether the platform asks the run to end; save a checkpoint first if `control` says so."""
        return self._control["action"] != "none"

    @property
    def control(self) -> Dict[str, Any]:
        """`{action, reason, deadline}`; action `none`, `checkpoint_and_exit` or `exit`."""
        return self._control

    def flush(self, timeout: float = 10.0) -> bool:
        """Waits at most `timeout` seconds for everything logged so far to reach the service; returns whether it did.

        What did not arrive is kept, and sent later.
        """
        if self._config is None or self._ended or not self._started:
            return True
        return self._uploader.flush(timeout)

    def finish(
        self, exit_state: str = "succeeded", *, message: Optional[str] = None, timeout: float = CLOSE_WITHIN_S
    ) -> None:
        """Reports the end (`succeeded` or `failed`) and sends what waits, within `timeout` seconds; the rest stays on disk.

        The last line on stderr says whether everything was sent, or what was kept where. With `strict`, raises
        `ForgeError` unless all arrived.
        """
        if exit_state not in ("succeeded", "failed"):
            raise ForgeError("exit_state must be 'succeeded' or 'failed', not %r" % (exit_state,))
        if self._ended:
            return
        if self.enabled and not self._is_fork:
            self._lifecycle(exit_state, message)
        self.close(timeout)

    def end(self, exit_state: str, message: Optional[str] = None) -> None:
        """At the end of the process: the end of a run is reported by whoever knows its exit code."""
        if self.owns_run:
            self.finish(exit_state, message=message, timeout=CLOSE_WITHIN_S)
        else:
            self.close(CLOSE_WITHIN_S)

    def fail(self, message: str) -> None:
        """At the end of a process by an exception."""
        self.finish("failed", message=message, timeout=CLOSE_WITHIN_S)

    def close(self, timeout: float) -> None:
        """Ends reporting without a report of the end, which the exit code tells."""
        told = self._close(timeout)
        if told is not None and self._strict:
            raise ForgeError(told)

    def _close(self, timeout: float) -> Optional[str]:
        """Returns what is wrong: `None` if everything arrived."""
        if self._ended:
            return None
        self._ended = True
        if self._monitor is not None:
            self._monitor.stop()
        if self._config is None or not self._started:
            return None
        self._uploader.close(timeout)
        left, lost = self._spool.left, self._uploader.lost
        is_fine = left == Amount() and lost.amount == Amount()
        text = last_word(self.url, left, lost.amount, self._folder, self._uploader.trouble, lost.why)
        if not (is_fine and self._is_fork):  # a loader of data has nothing to say
            _say(text)
        return None if is_fine else text

    def after_fork_in_child(self) -> None:
        """The child reports only what it logs itself, from its first call on; everything earlier is the parent's."""
        if self._config is None:
            return
        self._is_fork = True
        self._monitor = None
        self._uploader.forget()
        config = self._config._replace(owns_run=False)
        self._config = config if self._address is None else config._replace(**self._address._asdict())
        self._set_up(self._config)

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, kind: Any, error: Any, _trace: Any) -> None:
        if kind is None or (kind is SystemExit and error.code in (None, 0)):
            if self.should_stop() and not self.owns_run:
                self.close(CLOSE_WITHIN_S)  # the platform ended it, and names that end itself: stopped or paused
            else:
                self.finish("succeeded")
        else:
            self.finish("failed", message=failure_text(kind, error))

    def _put(self, at: float, step: Optional[int], keys: Tuple[str, ...], numbers: Tuple[Scalar, ...]) -> None:
        if not self._started:
            self._start()
        if not self._buffer.put(at, step, keys, numbers):
            self._notices.report("points dropped: more is logged than can be sent or written", len(keys))

    def _start(self) -> None:
        with self._starting:
            if self._started:
                return
            self._started = True
            self._uploader.start()
            if self._is_fork:
                _flush_at_child_exit(self)

    def _reduced(self, values: Mapping[str, Any]) -> Tuple[Tuple[str, ...], Tuple[Scalar, ...]]:
        pairs, complaints = scalars(values)
        if complaints:
            self._refuse("values not logged", "; ".join(complaints[:3]), len(complaints))
        return tuple(key for key, _ in pairs), tuple(number for _, number in pairs)

    def _refuse(self, what: str, why: str, count: int = 1) -> None:
        if self._strict:
            raise ForgeError("%s: %s" % (what, why))
        self._notices.report(what, count, why)

    def _tell_at_once(self, what: str) -> None:
        if self._strict:
            raise ForgeError(what)
        _say("forge: error: " + what)

    def _register_later(self, body: Dict[str, Any], upload: bool) -> None:
        if upload:
            raise ForgeError("cannot upload %s: the run could not be created yet" % body["path"])
        del body["run_id"]
        self._post_soon("artifact", body)

    def _lifecycle(self, event: str, message: Optional[str] = None) -> None:
        report = {"event": event, "ts": RowEncoder(lambda _why, _count: None).timestamp(time.time())}
        if message is not None:
            report["message"] = message[:2000]
        self._post_soon("lifecycle", report)

    def _post_soon(self, route: str, fields: Dict[str, Any], samples: Optional[List[str]] = None) -> None:
        """Queues a request after everything logged before."""
        if self._config is None or self._ended:
            return
        if not self._started:
            self._start()
        head: Dict[str, Any] = {"run_id": self._config.run_id}
        if route == "lifecycle" and self._config.attempt is not None:
            head["attempt"] = self._config.attempt
        text = json.dumps({**head, **fields}, allow_nan=False, default=str)
        if samples is not None:
            text = '%s,"samples":[%s]}' % (text[:-1], ",".join(samples))
        weight = 1 if samples is None else len(samples)
        if not self._buffer.put_request(Request(route, text.encode(), weight)):
            self._notices.report("reports to %s dropped: more is logged than can be sent or written" % route, weight)

    def _find_address(self) -> Address:
        config = self._config
        if config is not None and config.address is not None:
            return config.address
        from . import claim

        assert config is not None
        return claim.find_address(self._folder, config, os.environ)

    def _take_address(self, address: Address) -> None:
        self._address = address
        if self._config is not None and self._config.address is None:
            _say("forge: reporting to %s" % address.url)

    def _take_control(self, control: Dict[str, Any]) -> None:
        self._control = {**_NO_CONTROL, **control}


def _say(text: str) -> None:
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError, AttributeError):  # stderr is closed
        pass


def failure_text(kind: Any, error: Any) -> str:
    return "%s: %s" % (getattr(kind, "__name__", kind), error)


def _flush_at_child_exit(run: Run) -> None:
    """Children of `multiprocessing` exit without running `atexit`."""
    finalizers = sys.modules.get("multiprocessing.util")
    if finalizers is not None:
        finalizers.Finalize(None, run.close, args=(CLOSE_WITHIN_S,), exitpriority=100)
