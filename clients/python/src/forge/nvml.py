"""GPUs by NVML, the library of NVIDIA's driver: no process is started for a sample, unlike with `nvidia-smi`."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

_LIBRARY = "libnvidia-ml.so.1"
_TEXT_BYTES = 96
_CLOCK_SM = 1
_TEMPERATURE_GPU = 0

# Bits of the reasons for lowered clocks; an idle GPU, or a clock set by a person, does not count as one.
_THROTTLES = {
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal",
    0x40: "hw_thermal",
    0x80: "hw_power_brake",
}


class _Utilization(ctypes.Structure):
    _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]  # percent


class _Memory(ctypes.Structure):
    """Bytes. The older form of this structure counts what the driver reserves as used."""

    _fields_ = [("version", ctypes.c_uint)] + [
        (name, ctypes.c_ulonglong) for name in ("total", "reserved", "free", "used")
    ]


_MEMORY_VERSION = ctypes.sizeof(_Memory) | 2 << 24


class NvmlError(Exception):
    pass


class Nvml:
    """Raises `NvmlError` where there is no driver; readings that a GPU does not provide are left out of its samples."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(_LIBRARY)
        except OSError as error:
            raise NvmlError(str(error))
        self._call("nvmlInit_v2")

    def sample(self) -> List[Dict[str, Any]]:
        count = ctypes.c_uint()
        self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        return [dict(self._readings(index)) for index in range(count.value)]

    def _readings(self, index: int) -> Iterator[Tuple[str, Any]]:
        yield "index", index
        device = ctypes.c_void_p()
        if not self._gives("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(device)):
            return
        for name, function in (("uuid", "nvmlDeviceGetUUID"), ("name", "nvmlDeviceGetName")):
            text = ctypes.create_string_buffer(_TEXT_BYTES)
            if self._gives(function, device, text, ctypes.c_uint(_TEXT_BYTES)):
                yield name, text.value.decode("utf-8", "replace")
        used = _Utilization()
        if self._gives("nvmlDeviceGetUtilizationRates", device, ctypes.byref(used)):
            yield "util_pct", float(used.gpu)
            yield "mem_util_pct", float(used.memory)
        memory = _Memory(version=_MEMORY_VERSION)
        if self._gives("nvmlDeviceGetMemoryInfo_v2", device, ctypes.byref(memory)):
            yield "mem_used_bytes", memory.used
            yield "mem_total_bytes", memory.total
        for name, function, scale, of in _NUMBERS:
            number = ctypes.c_uint()
            if self._gives(function, device, *of, ctypes.byref(number)):
                yield name, scale(number.value)
        reasons = ctypes.c_ulonglong()
        # Drivers before 535 know only the older of the two names.
        for function in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            if self._gives(function, device, ctypes.byref(reasons)):
                yield "throttle", [word for bit, word in _THROTTLES.items() if reasons.value & bit]
                return

    def _call(self, name: str, *arguments: Any) -> None:
        function: Optional[Callable[..., int]] = getattr(self._library, name, None)
        code = function(*arguments) if function else None
        if code != 0:
            raise NvmlError("%s: %s" % (name, "missing" if code is None else code))

    def _gives(self, name: str, *arguments: Any) -> bool:
        try:
            self._call(name, *arguments)
        except NvmlError:
            return False
        return True


def _watts(milliwatts: int) -> float:
    return milliwatts / 1000


# A reading, the function that returns it, the conversion to our unit, and the function's other arguments.
_NUMBERS: List[Tuple[str, str, Callable[[int], Any], Tuple[Any, ...]]] = [
    ("power_w", "nvmlDeviceGetPowerUsage", _watts, ()),
    ("power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", _watts, ()),
    ("temp_c", "nvmlDeviceGetTemperature", int, (ctypes.c_uint(_TEMPERATURE_GPU),)),
    ("sm_clock_mhz", "nvmlDeviceGetClockInfo", int, (ctypes.c_uint(_CLOCK_SM),)),
]
