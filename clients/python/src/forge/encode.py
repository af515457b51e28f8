"""Turns logged rows into the JSON of metric points.

This runs on the sending thread for every point, so a row is one `%` and one `replace` instead of a dictionary per
point: about 0.5 µs a point, most of it the shortest decimal form of a float.
"""

from __future__ import annotations

import json
import math
import time
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

from .texts import is_unprintable
from .values import Scalar, nonfinite

# Limits of the service (per point and per run they are counted in characters).
MAX_KEY_CHARS = 250

# Stands for the end of a point while its row is formatted; JSON text never holds it unescaped.
_MARK = "\0"

# Key sets differ by logging call, not by step: a handful per program. The limit is for programs that keep inventing
# keys, which must not fill the memory.
_MAX_TEMPLATES = 4096


class Row(NamedTuple):
    """One call of `log`: all values share the step and the time."""

    at: float  # seconds since the epoch
    step: int
    keys: Tuple[str, ...]
    values: Tuple[Scalar, ...]


class _Template(NamedTuple):
    text: str
    kept: Optional[Tuple[int, ...]]  # None: all of them
    refused: str  # the first key that is left out


class RowEncoder:
    """Keeps a template per set of keys. `complain` is called for keys that are left out."""

    def __init__(self, complain: Callable[[str, int], None]):
        self._complain = complain
        self._templates: Dict[Tuple[str, ...], _Template] = {}
        self._second = -1
        self._second_text = ""

    def encode_or_leave_out(self, row: Row) -> Tuple[str, int]:
        """A row that cannot be encoded must not take earlier ones down with it."""
        try:
            return self.encode(row)
        except Exception as error:
            self._complain("%s: %s" % (type(error).__name__, error), len(row.values))
            return "", 0

    def encode(self, row: Row) -> Tuple[str, int]:
        """Returns the row's points, comma-separated, and their number (`""` and 0 if no key is valid)."""
        template = self._templates.get(row.keys)
        if template is None:
            template = self._remember(row.keys)
        values = row.values
        if template.kept is not None:
            values = tuple(values[index] for index in template.kept)
            why = "metric keys must be 1 to 250 printable characters, not %s" % template.refused
            self._complain(why, len(row.values) - len(values))
        if not values:
            return "", 0
        end = ',"step":%d,"ts":"%s"}' % (row.step, self.timestamp(row.at))
        return (template.text % _json_numbers(values)).replace(_MARK, end), len(values)

    def timestamp(self, at: float) -> str:
        """ISO 8601 in UTC with milliseconds; `strftime` only once a second."""
        second, millis = divmod(round(at * 1000), 1000)
        if second != self._second:
            self._second_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._second = second
        return "%s.%03d+00:00" % (self._second_text, millis)

    def _remember(self, keys: Tuple[str, ...]) -> _Template:
        valid = [index for index, key in enumerate(keys) if valid_key(key)]
        points = ['{"key":%s,"value":%%s%s' % (json.dumps(keys[i]).replace("%", "%%"), _MARK) for i in valid]
        refused = next((ascii(key)[:80] for key in keys if not valid_key(key)), "")
        template = _Template(",".join(points), None if len(valid) == len(keys) else tuple(valid), refused)
        if len(self._templates) >= _MAX_TEMPLATES:
            self._templates.clear()
        self._templates[keys] = template
        return template


def valid_key(key: object) -> bool:
    """The service's rule: 1 to 250 characters, without controls and without marks of direction."""
    return isinstance(key, str) and 0 < len(key) <= MAX_KEY_CHARS and not any(map(is_unprintable, key))


def _json_numbers(values: Tuple[Scalar, ...]) -> Tuple[object, ...]:
    # A finite sum, computed in C, proves that all are finite; otherwise (it may have overflowed) check each value.
    try:
        if math.isfinite(sum(values)):
            return values
    except OverflowError:
        pass
    return tuple(map(_json_number, values))


def _json_number(value: Scalar) -> object:
    try:
        number = float(value)
    except OverflowError:  # an int beyond the range of a double
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return value if math.isfinite(number) else '"%s"' % nonfinite(number)


def metrics_body(run_id: str, attempt: Optional[int], points: List[str]) -> bytes:
    """The request that carries encoded points."""
    head = '{"run_id":%s,' % json.dumps(run_id)
    if attempt is not None:
        head += '"attempt":%d,' % attempt
    return (head + '"points":[' + ",".join(points) + "]}").encode("utf-8")
