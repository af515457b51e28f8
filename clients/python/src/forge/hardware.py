"""Samples of the machine: GPUs from NVML or `nvidia-smi`, the host from `/proc`; sources that do not exist are left out."""

from __future__ import annotations

import os
import time
from typing import Any, Dict, List, Optional

_GPU_FIELDS = {
    "index": "index",
    "uuid": "uuid",
    "utilization.gpu": "util_pct",
    "utilization.memory": "mem_util_pct",
    "memory.used": "mem_used_bytes",
    "memory.total": "mem_total_bytes",
    "power.draw": "power_w",
    "power.limit": "power_limit_w",
    "temperature.gpu": "temp_c",
    "clocks.sm": "sm_clock_mhz",
    "name": "name",
}
_TEXTS = frozenset({"uuid", "name"})
_MIB = 1024 * 1024
_SECTOR_BYTES = 512  # the unit of /proc/diskstats, whatever the disk's sector size
_NVIDIA_SMI_PATIENCE_S = 10


class GpuSampler:
    """Asks the driver's library, or `nvidia-smi` where that fails, until neither is available."""

    def __init__(self, visible: Optional[str]):
        self._visible = visible  # CUDA_VISIBLE_DEVICES: the GPUs of this run, by index or uuid
        self._absent = False
        self._nvml = _open_nvml()

    def sample(self) -> List[Dict[str, Any]]:
        return [gpu for gpu in self._all() if _is_visible(gpu, self._visible)]

    def _all(self) -> List[Dict[str, Any]]:
        if self._nvml is not None:
            try:
                return self._nvml.sample()
            except Exception:
                self._nvml = None  # a driver that was replaced under the running process
        return self._by_program()

    def _by_program(self) -> List[Dict[str, Any]]:
        if self._absent:
            return []
        import subprocess

        command = ["nvidia-smi", "--query-gpu=" + ",".join(_GPU_FIELDS), "--format=csv,noheader,nounits"]
        try:
            output = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_NVIDIA_SMI_PATIENCE_S, check=True
            ).stdout.decode("utf-8", "replace")
        except FileNotFoundError:
            self._absent = True
            return []
        except (OSError, subprocess.SubprocessError):
            return []
        return parse_gpus(output)


def _open_nvml() -> Any:
    try:
        from .nvml import Nvml

        return Nvml()
    except Exception:
        return None


def parse_gpus(output: str) -> List[Dict[str, Any]]:
    """Lines of `nvidia-smi --format=csv,noheader,nounits`; `[N/A]` and similar values are left out."""
    gpus = []
    for line in output.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) == len(_GPU_FIELDS):
            gpu = {name: _gpu_value(name, cell) for name, cell in zip(_GPU_FIELDS.values(), cells)}
            gpus.append({name: value for name, value in gpu.items() if value is not None})
    return gpus


def _gpu_value(name: str, cell: str) -> Any:
    if name in _TEXTS:
        return cell or None
    try:
        number = float(cell)
    except ValueError:
        return None
    if name.endswith("_bytes"):
        return int(number * _MIB)
    return number if name.endswith(("_pct", "_w")) else int(number)


def _is_visible(gpu: Dict[str, Any], visible: Optional[str]) -> bool:
    if visible is None:
        return True
    wanted = [name.strip() for name in visible.split(",") if name.strip()]
    return str(gpu.get("index")) in wanted or any(gpu.get("uuid", "").startswith(name) for name in wanted if len(name) > 4)


class HostSampler:
    """Rates are means since the last sample; the first sample has none."""

    def __init__(self, proc: str = "/proc"):
        self._proc = proc
        self._last: Dict[str, float] = {}
        self._last_at = time.monotonic()
        self._rates(self._counters(), 1.0)

    def sample(self) -> Dict[str, Any]:
        now = time.monotonic()
        point = self._rates(self._counters(), max(now - self._last_at, 0.001))
        self._last_at = now
        memory = self._memory()
        if "MemTotal" in memory and "MemAvailable" in memory:
            point["mem_total_bytes"] = memory["MemTotal"]
            point["mem_used_bytes"] = memory["MemTotal"] - memory["MemAvailable"]
        point.update(_disk_use(), **_load())
        resident = self._read("self/statm").split()
        if len(resident) > 1:
            point["proc_rss_bytes"] = int(resident[1]) * os.sysconf("SC_PAGE_SIZE")
        return point

    def _rates(self, counters: Dict[str, float], elapsed_s: float) -> Dict[str, Any]:
        last, self._last = self._last, counters
        delta = {name: value - last[name] for name, value in counters.items() if name in last}
        point: Dict[str, Any] = {}
        if delta.get("cpu_all"):
            point["cpu_pct"] = round(100 * delta["cpu_busy"] / delta["cpu_all"], 1)
        for name in ("net_rx", "net_tx", "disk_read", "disk_write"):
            if name in delta:
                point[name + "_bps"] = max(0, int(delta[name] / elapsed_s))
        return point

    def _counters(self) -> Dict[str, float]:
        counters: Dict[str, float] = {}
        ticks = [int(tick) for tick in self._read("stat").split("\n", 1)[0].split()[1:9]]
        if len(ticks) >= 5:
            counters["cpu_all"] = sum(ticks)
            counters["cpu_busy"] = sum(ticks) - ticks[3] - ticks[4]  # idle and iowait
        interfaces = [line.split(":", 1) for line in self._read("net/dev").splitlines() if ":" in line]
        cells = [rest.split() for name, rest in interfaces if name.strip() != "lo"]
        if interfaces:
            counters["net_rx"] = sum(int(row[0]) for row in cells)
            counters["net_tx"] = sum(int(row[8]) for row in cells)
        disks = [row for row in map(str.split, self._read("diskstats").splitlines()) if _is_whole_disk(row)]
        if disks:
            counters["disk_read"] = sum(int(row[5]) for row in disks) * _SECTOR_BYTES
            counters["disk_write"] = sum(int(row[9]) for row in disks) * _SECTOR_BYTES
        return counters

    def _memory(self) -> Dict[str, int]:
        rows = [line.split() for line in self._read("meminfo").splitlines()]
        return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows if len(row) >= 2}

    def _read(self, name: str) -> str:
        try:
            with open(os.path.join(self._proc, name), encoding="ascii", errors="replace") as file:
                return file.read()
        except OSError:
            return ""


def _is_whole_disk(row: List[str]) -> bool:
    """Partitions and stacked devices would count the same bytes twice."""
    return len(row) > 9 and os.path.isdir("/sys/block/%s/device" % row[2])


def _disk_use() -> Dict[str, Any]:
    try:
        disk = os.statvfs(".")
    except (OSError, AttributeError):
        return {}
    return {"disk_used_bytes": (disk.f_blocks - disk.f_bfree) * disk.f_frsize}


def _load() -> Dict[str, Any]:
    try:
        return {"load1": round(os.getloadavg()[0], 2)}
    except (OSError, AttributeError):
        return {}
