"""Builds requests of metric points: as JSON, which every service accepts, or as a block of binary columns.

A block costs this process a seventh of the JSON, and the service even less. A block that the service does not accept
is sent again as JSON (`Uploader`), so that only JSON requests have to deal with refusals.
"""

from __future__ import annotations

import json
import struct
import sys
from array import array
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

from .encode import Row, RowEncoder, metrics_body, valid_key

# As `schemas/metrics/block.ts` of the service describes it.
BLOCK_TYPE = "application/vnd.forge.metric-block"
_MAGIC = b"FMB1"

# The service accepts 5 MB a call; characters that JSON escapes count as several.
MAX_CHARS = 4_000_000

_YEARS_1_TO_9999 = (-62_135_596_800_000, 253_402_300_799_999)


class Request(NamedTuple):
    """One POST to an ingest route."""

    route: str
    body: bytes  # JSON; empty where the points are a block
    points: int  # what would be lost with it: number of metric points or of samples, or 1
    block: bytes = b""

    @property
    def weight(self) -> int:
        """Its size in the queue, in points of a hundred bytes."""
        return max(self.points, len(self.body or self.block) // 100)


class JsonPoints:
    """`add` rows until `full`; then `request`, which is None if no row can be sent."""

    def __init__(self, run_id: str, attempt: Optional[int], encoder: RowEncoder):
        self.full = False
        self._run_id = run_id
        self._attempt = attempt
        self._encoder = encoder
        self._points: List[str] = []
        self._count = self._chars = 0

    def add(self, row: Row) -> None:
        text, valid = self._encoder.encode_or_leave_out(row)
        if valid:
            self._points.append(text)
            self._count += valid
            self._chars += len(text)
            self.full = self._chars > MAX_CHARS

    def request(self) -> Optional[Request]:
        if not self._count:
            return None
        return Request("metrics", metrics_body(self._run_id, self._attempt, self._points), self._count)


class BlockPoints:
    """The same as a block; as JSON if one of the rows does not fit into a block."""

    def __init__(self, run_id: str, attempt: Optional[int], otherwise: JsonPoints):
        self.full = False
        self._run_id = run_id
        self._attempt = attempt
        self._otherwise = otherwise
        self._rows: List[Row] = []
        self._tables: List[_Table] = []
        self._fits = sys.byteorder == "little"
        self._count = self._chars = 0

    def add(self, row: Row) -> None:
        self._rows.append(row)
        self._count += len(row.keys)
        if not self._fits:
            return
        try:
            self._table_of(row.keys).add(row)
        except (ValueError, OverflowError, TypeError):
            self._fits = False

    def request(self) -> Optional[Request]:
        if self._fits and self._count:
            return Request("metrics", b"", self._count, self._block())
        for row in self._rows:
            self._otherwise.add(row)
        return self._otherwise.request()

    def _table_of(self, keys: Tuple[str, ...]) -> "_Table":
        """Rows keep their order: the last of repeated steps wins."""
        if not self._tables or self._tables[-1].keys != keys:
            if not all(map(valid_key, keys)):
                raise ValueError("a key that the service refuses")
            self._tables.append(_Table(keys))
            self._chars += sum(map(len, keys))
            self.full = self._chars > MAX_CHARS // 4  # up to four bytes each
        return self._tables[-1]

    def _block(self) -> bytes:
        tables = [{"keys": table.keys, "rows": len(table.steps)} for table in self._tables]
        head: Dict[str, Any] = {"run_id": self._run_id, "tables": tables}
        if self._attempt is not None:
            head["attempt"] = self._attempt
        columns = [column for table in self._tables for column in (table.steps, table.times, table.values)]
        return _join(head, b"".join(column.tobytes() for column in columns))


class _Table:
    """Consecutive rows with the same keys."""

    def __init__(self, keys: Tuple[str, ...]):
        self.keys = keys
        self.steps, self.times, self.values = array("d"), array("d"), array("d")

    def add(self, row: Row) -> None:
        time_ms = round(row.at * 1000)
        if not _YEARS_1_TO_9999[0] <= time_ms <= _YEARS_1_TO_9999[1]:
            raise ValueError("a time that cannot be written as text")
        self.steps.append(row.step)
        self.times.append(time_ms)
        self.values.extend(row.values)


class Points:
    """Turns the rows of a run into requests: as blocks, until the service turns out not to accept them."""

    def __init__(self, run_id: str, attempt: Optional[int], complain: Callable[[str, int], None]):
        self.as_blocks = True
        self._run_id = run_id
        self._attempt = attempt
        self._complain = complain
        self._encoder = RowEncoder(complain)

    def making(self) -> Union[JsonPoints, BlockPoints]:
        points = JsonPoints(self._run_id, self._attempt, self._encoder)
        return BlockPoints(self._run_id, self._attempt, points) if self.as_blocks else points

    def in_json(self, request: Request) -> Request:
        """The same points as JSON; other requests unchanged."""
        if not request.block:
            return request
        points = JsonPoints(self._run_id, self._attempt, self._encoder)
        try:
            for row in _rows_of(request.block):
                points.add(row)
        except (ValueError, LookupError, TypeError, struct.error) as error:
            self._complain("a damaged block on disk: %s" % error, request.points)
        return points.request() or Request("metrics", metrics_body(self._run_id, self._attempt, []), 0)


def readdressed(report: bytes, report_id: str, run_id: str) -> bytes:
    """A report of a run that now has a different id from the one known when it was logged."""
    if report_id == run_id:
        return report
    if report.startswith(_MAGIC):
        head, columns = _split(report)
        return _join({**head, "run_id": run_id}, columns)
    # Every body begins with the id of its run.
    return report.replace(b'"%s"' % report_id.encode(), b'"%s"' % run_id.encode(), 1)


def _join(head: Dict[str, Any], columns: bytes) -> bytes:
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    return b"".join([_MAGIC, struct.pack("<I", len(text)), text, columns])


def _split(block: bytes) -> Tuple[Dict[str, Any], bytes]:
    (length,) = struct.unpack_from("<I", block, len(_MAGIC))
    start = len(_MAGIC) + 4
    return json.loads(block[start : start + length]), block[start + length :]


def _rows_of(block: bytes) -> Iterator[Row]:
    head, columns = _split(block)
    numbers = array("d", columns)
    at = 0
    for table in head["tables"]:
        keys, count = tuple(table["keys"]), table["rows"]
        first = at + 2 * count
        for index in range(count):
            start = first + index * len(keys)
            values = tuple(numbers[start : start + len(keys)])
            if len(values) < len(keys):
                raise ValueError("it is cut off")
            yield Row(numbers[at + count + index] / 1000, int(numbers[at + index]), keys, values)
        at = first + count * len(keys)
