"""The thread that samples the machine during training."""

from __future__ import annotations

import os
import threading
import time
from typing import Any, Callable, Dict

from . import environment
from .config import Config
from .encode import RowEncoder
from .hardware import GpuSampler, HostSampler

INTERVAL_S = 15.0


class Monitor:
    """Sends the environment once and hardware samples until stopped. A failure ends the samples, never the run."""

    def __init__(self, config: Config, speaks: bool, samples: bool, post: Callable[[str, Dict[str, Any]], None]):
        self._config = config
        self._speaks = speaks
        self._samples = samples
        self._post = post
        self._stopped = threading.Event()
        self._clock = RowEncoder(lambda _why, _count: None)

    def start(self) -> None:
        try:
            threading.Thread(target=self._run, name="forge-monitor", daemon=True).start()
        except RuntimeError:
            pass  # no more threads: the run has no samples of its machine

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        gpus = GpuSampler(os.environ.get("CUDA_VISIBLE_DEVICES"))
        for step in (self._send_environment, self._send_hardware):
            try:
                step(gpus)
            except Exception:
                continue

    def _send_environment(self, gpus: GpuSampler) -> None:
        present = gpus.sample()
        if self._speaks:
            self._post("environment", {"captured_at": self._now(), **environment.picture(os.environ, present)})
        if environment.is_multi_node(os.environ):
            self._post("environment/nodes", {"nodes": [environment.node(os.environ, present)]})

    def _send_hardware(self, gpus: GpuSampler) -> None:
        if not self._samples:
            return
        host = HostSampler()
        where = {"node": environment.node_name(), "rank": self._config.rank}
        while not self._stopped.wait(INTERVAL_S):
            now = self._now()
            points = [{"ts": now, **where, "scope": "gpu", **_readings(gpu)} for gpu in gpus.sample()]
            points.append({"ts": now, **where, "scope": "host", **host.sample()})
            self._post("hardware", {"interval_s": INTERVAL_S, "points": points})

    def _now(self) -> str:
        return self._clock.timestamp(time.time())


def _readings(gpu: Dict[str, Any]) -> Dict[str, Any]:
    """Its name is part of the environment."""
    return {key: value for key, value in gpu.items() if key != "name"}
