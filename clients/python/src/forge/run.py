"""The run, from the point of view of training code."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Sequence, Tuple

from .address import Address
from .alerts import alert
from .config import Config, ForgeError, in_words, output_is_collected
from .describing import describe
from .last_word import failure_text
from .notices import say
from .reporter import Reporter, at_child_exit
from .results import log_artifact, log_samples
from .spool import Amount
from .values import MAX_STEP, Scalar, hparams, scalars, to_step

if TYPE_CHECKING:
    from .monitor import Monitor
    from .output import OutputTee

# How long `init` waits for the service before it lets training start without a response.
INIT_PATIENCE_S = 5.0

# How long the end of a process may take. A container is killed some time after SIGTERM; this much of it is ours.
CLOSE_WITHIN_S = 10.0

_PLAIN = frozenset((float, int))
_NO_CONTROL = {"action": "none", "reason": None, "deadline": None}


class Run:
    """One run that this process reports, created by `forge.init`. Its methods are the functions of the module.

    Problems become warnings, which do not end training; with `strict`, they raise `forge.ForgeError`. As a context manager
    (`with forge.init() as run:`) it ends as `failed` if an exception leaves the block.
    """

    def __init__(
        self,
        config: Optional[Config],
        *,
        strict: bool = False,
        rank_zero_only: bool = True,
        asked: Optional[Mapping[str, Any]] = None,
    ):
        self._config = config
        self._asked = {} if asked is None else asked  # the arguments of `init`, to recognize another run
        self._strict = strict
        self._ended = False
        self._entered = 0
        self._is_fork = False
        self._control = _NO_CONTROL
        self._monitor: Optional[Monitor] = None
        self._output: Optional[OutputTee] = None
        # Every process of a distributed run calls the same code; only one process reports.
        self._speaks = config is not None and (config.rank == 0 or not rank_zero_only)
        self._samples_nodes = config is not None and config.local_rank == 0
        if config is not None:
            self._reporter = Reporter(config, self._take_control)

    def begin(self, params: Any, monitor_hardware: bool, log_output: bool = False) -> None:
        """Reports `running` last: that mark is the billing start (specification "Job lifecycle" 1)."""
        config = self._config
        if config is None:
            return
        if params is not None:
            self.log_hparams(params)
        if self._speaks:
            self._reporter.post_lifecycle("running")
            self._say_where(config, self._reporter.flush(INIT_PATIENCE_S, patient=self._strict))
        if self._samples_nodes:
            from .monitor import Monitor  # here and below: loaded when needed, so that `import forge` is cheap

            self._monitor = Monitor(config, self._speaks, monitor_hardware, self._post_soon)
            self._monitor.start()
        if log_output and self._speaks and not output_is_collected(os.environ):
            from .environment import node_name
            from .output import OutputTee

            labels = {"node": node_name(), "rank": config.rank}
            self._output = OutputTee(self._post_soon, lambda: self._reporter.keeps_up, labels)
            self._output.start()

    def _say_where(self, config: Config, arrived: bool) -> None:
        lost, trouble = self._reporter.lost, self._reporter.trouble
        if self._strict and (not arrived or lost.amount != Amount()):
            why = lost.why or trouble or "no response within %d s" % INIT_PATIENCE_S
            self._give_up(why, INIT_PATIENCE_S if arrived else 0)
            raise ForgeError("the service at %s does not accept reports of %s: %s" % (config.endpoint, config.run_id, why))
        if arrived:
            # A run that was created late has already reported this.
            if config.address is not None:
                say("forge: reporting to %s" % config.address.url)
        else:
            why, folder = trouble or "no response yet", self._reporter.folder
            say("forge: nothing can be sent to %s now (%s); reports are kept in %s until it can" % (config.endpoint, why, folder))

    def _give_up(self, why: str, timeout: float) -> None:
        """`init` failed. A run created here ends; any other must not begin later, when its reports are sent."""
        if self.owns_run and self._reporter.address is not None:
            self._reporter.post_lifecycle("failed", why)
            self._close(timeout)
        else:
            self._ended = True
            self._reporter.drop()

    def __repr__(self) -> str:
        if self._config is None:
            return "<forge.Run, not reporting>"
        state = "ended" if self._ended else "reporting" if self._speaks else "left to rank 0"
        return "<forge.Run %s, %s, %s>" % (self.id, state, self.url or "not created yet")

    @property
    def url(self) -> Optional[str]:
        """The page of the run; `None` if nothing is reported, or the run could not be created yet."""
        if self._config is None or self._reporter.address is None:
            return None
        return self._reporter.address.url

    @property
    def enabled(self) -> bool:
        """Whether this process reports anything."""
        return self._speaks and not self._ended

    @property
    def ended(self) -> bool:
        """Whether `finish` was called; later logging is ignored."""
        return self._ended

    @property
    def id(self) -> Optional[str]:
        """The id of the run, a local one (`local_…`) until it could be created; `None` if nothing is reported."""
        if self._config is None:
            return None
        address = self._reporter.address
        return self._config.run_id if address is None else address.run_id

    @property
    def owns_run(self) -> bool:
        """Whether `init` created the run, so that nobody else reports its end."""
        return self._config is not None and self._config.owns_run and not self._is_fork

    def again(self, params: Any, asked: Mapping[str, Any], strict: bool) -> None:
        """Another `init` during this run: warns a caller who wants another run that this one is still active."""
        others = {name: value for name, value in asked.items() if self._asked.get(name) != value}
        if self._speaks and others:
            ours = " ".join(["run %s" % self.id, in_words(self._asked, leave_out="run_id")]).rstrip()
            text = "init for %s returns the active %s; call forge.finish() first to start another" % (in_words(others), ours)
            if strict or self._strict:
                raise ForgeError(text)
            say("forge: warning: " + text)
        if params is not None:
            self.log_hparams(params)

    def log(self, values: Mapping[str, Any], step: Optional[int] = None) -> None:
        """Logs numbers by name for one step: `forge.log({"loss": 0.3, "val": {"acc": 0.9}}, step=7)`.

        values  names of 1 to 250 characters, and numbers: int, float, NaN, infinities, tensors and arrays of one element.
                Nested dictionaries become dotted names (`val.acc`). Anything else, also a bool, is left out with a
                warning that names it (with `strict`, it raises `forge.ForgeError`); the rest is logged
        step    a whole number; by default one after the last. The same name and step again replaces the value

        Returns at once: a background thread sends twice a second or at 1,000 points. While the service cannot be reached,
        points wait on disk. It waits, for up to 5 seconds, only when more is logged than can be sent and written.
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
            if step is not None and (type(step) is not int or not -MAX_STEP <= step <= MAX_STEP):
                step = to_step(step)
            if keys:
                self._reporter.put(at, step, keys, numbers)
        except Exception as error:
            self._refuse("values not logged", [str(error)])

    def _say_ended(self) -> None:
        """A process other than rank 0 is silent on purpose; a run that has ended is not expected to be."""
        if self._ended and self._speaks:
            self._reporter.notices.report("not logged: the run has ended; forge.init starts another")

    def log_hparams(self, params: Any) -> None:
        """Adds to the run's hyperparameters, or changes them: `forge.log_hparams({"model": {"depth": 4}})`.

        params  a (nested) dictionary or an object with attributes; nested names become dotted. Values are numbers, texts
                (the first 6,000 characters), booleans and None; others are kept as text
        """
        if not self._speaks or self._ended:
            return self._say_ended()
        try:
            kept, complaints = hparams(params)
            self._refuse("hparams not logged", complaints)
            self._post_soon("hparams", {"params": kept})
        except ForgeError:
            raise
        except Exception as error:
            self._refuse("hparams not logged", [str(error)])

    log_samples = log_samples
    log_artifact = log_artifact
    alert = alert
    describe = describe

    def should_stop(self) -> bool:
        """Whether the platform asks the run to end; save a checkpoint first if `control` says so. Costs nothing."""
        return self._control["action"] != "none"

    @property
    def address(self) -> Optional[Address]:
        """Where the run reports; None with `SERVICE_ENABLED=0`, and until the run is created."""
        return self._reporter.address if self._config is not None else None

    @property
    def control(self) -> Dict[str, Any]:
        """`{action, reason, deadline}`; action `none`, `checkpoint_and_exit` or `exit`."""
        return self._control

    def flush(self, timeout: float = 10.0) -> bool:
        """Waits up to `timeout` seconds until everything logged so far has reached the service; returns whether it has.

        The rest is kept, and sent later.
        """
        return self._config is None or self._ended or self._reporter.flush(timeout)

    def finish(
        self, exit_state: str = "succeeded", *, message: Optional[str] = None, timeout: float = CLOSE_WITHIN_S
    ) -> None:
        """Reports the end, and sends waiting reports, within `timeout` seconds.

        exit_state  `succeeded` or `failed`
        message     the reason, for people

        The last line on stderr says whether everything was sent, or which reports are kept, where, and how to send them. With
        `strict`, raises `forge.ForgeError` unless everything arrived. Without it the process does the same when it ends.
        """
        if exit_state not in ("succeeded", "failed"):
            raise ForgeError("exit_state must be 'succeeded' or 'failed', not %r" % (exit_state,))
        if self._ended:
            return
        if self.enabled and not self._is_fork:
            self._end_output()
            self._reporter.post_lifecycle(exit_state, message)
        self.close(timeout)

    def end(self, exit_state: str, message: Optional[str] = None) -> None:
        """At the end of the process: the process that knows the exit code reports the end of the run."""
        if self.owns_run:
            self.finish(exit_state, message=message, timeout=CLOSE_WITHIN_S)
        else:
            self.close(CLOSE_WITHIN_S)

    def fail(self, message: str) -> None:
        """At the end of a process through an exception."""
        self.finish("failed", message=message, timeout=CLOSE_WITHIN_S)

    def close(self, timeout: float) -> None:
        """Ends reporting without reporting the end, which the exit code reveals."""
        told = self._close(timeout)
        if told is not None and self._strict:
            raise ForgeError(told)

    def _close(self, timeout: float) -> Optional[str]:
        """Returns the problem, or `None` if everything arrived."""
        if self._ended:
            return None
        self._end_output()
        self._ended = True
        if self._monitor is not None:
            self._monitor.stop()
        if self._config is None:
            return None
        # A forked data loader has nothing to say.
        return self._reporter.close(timeout, silent_if_fine=self._is_fork)

    def _end_output(self) -> None:
        if self._output is not None:
            self._output.stop()

    def cut_short(self, then: Callable[[], None]) -> bool:
        """For a signal handler: cuts the last sending of reports short, and then calls `then`. False if none is under way."""
        return self._config is not None and self._reporter.cut_short(then)

    def after_fork_in_child(self) -> None:
        """The child reports only its own calls, from the first one on; everything earlier is the parent's."""
        if self._config is None:
            return
        self._is_fork = True
        self._monitor = self._output = None
        self._reporter.forget()
        config, address = self._config._replace(owns_run=False), self._reporter.address
        self._config = config if address is None else config._replace(**address._asdict())
        self._reporter = Reporter(
            self._config, self._take_control, on_start=lambda: at_child_exit(self.close, CLOSE_WITHIN_S)
        )

    def __enter__(self) -> "Run":
        self._entered += 1
        return self

    def __exit__(self, kind: Any, error: Any, _trace: Any) -> None:
        self._entered -= 1
        if self._entered > 0:
            return  # an inner block, as in a function that itself calls `with forge.init()`
        if kind is None or (kind is SystemExit and error.code in (None, 0)):
            if self.should_stop() and not self.owns_run:
                self.close(CLOSE_WITHIN_S)  # the platform ended it, and names that end itself: stopped or paused
            else:
                self.finish("succeeded")
        else:
            self.finish("failed", message=failure_text(kind, error))

    def _reduced(self, values: Mapping[str, Any]) -> Tuple[Tuple[str, ...], Tuple[Scalar, ...]]:
        pairs, complaints = scalars(values)
        self._refuse("values not logged", complaints)
        return tuple(key for key, _ in pairs), tuple(number for _, number in pairs)

    def _refuse(self, what: str, complaints: Sequence[str]) -> None:
        why = "; ".join(complaints[:3])
        if len(complaints) > 3:
            why += "; also " + ", ".join(complaint.partition(": ")[0] for complaint in complaints[3:20])
        if complaints and self._strict:
            raise ForgeError("%s: %s" % (what, why))
        if complaints:
            self._reporter.leave_out(what, len(complaints), why)

    def _tell_at_once(self, what: str) -> None:
        if self._strict:
            raise ForgeError(what)
        say("forge: error: " + what)

    def _post_soon(self, route: str, fields: Dict[str, Any], samples: Any = None) -> None:
        if self._config is not None and not self._ended:
            self._reporter.post(route, fields, samples)

    def _take_control(self, control: Dict[str, Any]) -> None:
        self._control = {**_NO_CONTROL, **control}
