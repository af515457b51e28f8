"""Unsent reports on disk: a first-in first-out queue of requests that outlives the process.

Its purpose is order. If two requests have the same (key, step), the later one wins, so an older value must never be
sent after a newer one:

- while anything is in the spool, everything newer is queued behind it (`Uploader`);
- a process that finds the spool of a dead process of the same run sends it first;
- only one process at a time replays the spool of another (`replay.lock`); the others wait.

A request that was sent and not yet removed when the process died is sent again: the same points under the same
identities, in the same order, before anything newer.

One folder per run; in it, per writing process, `<writer>.lock` (held while it lives) and `<writer>.<n>.jsonl`. Beyond
its share of the disk a process drops its oldest points and output, and keeps the other reports.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import time
from collections import deque
from typing import BinaryIO, Deque, Iterator, List, NamedTuple, Optional, Set, Tuple

from .address import LOCAL_PREFIX, Note, remove_if_empty, write_note
from .points import Request
from .config import Config
from .locks import FileLock, LocksMissing, take_lock

SEGMENT_BYTES = 4 * 1024 * 1024

# All segments of one process (FORGE_SPOOL_MB).
MAX_BYTES = 64 * 1024 * 1024

# What fills a disk: routes whose oldest reports may go.
_BULK = ("metrics", "logs")

_SEGMENT = re.compile(r"^(?P<writer>.+)\.(?P<number>\d{6})\.jsonl$")
_HEAD = re.compile(rb'^\{"route":"([a-z/]+)","points":(\d+),"(body|block)":')


def run_folder(root: str, run_id: str) -> str:
    """Run ids are plain names; other texts must not lead out of the root."""
    return os.path.join(root, re.sub(r"[^A-Za-z0-9_-]", "_", run_id))


class Amount(NamedTuple):
    points: int = 0
    reports: int = 0  # other than points

    def plus(self, request: Request, sign: int = 1) -> "Amount":
        if request.route == "metrics":
            return Amount(self.points + sign * request.points, self.reports)
        return Amount(self.points, self.reports + sign)


class Spool:
    """The part of a run's folder that this process reads and writes. Not for several threads at once."""

    def __init__(self, folder: str, config: Config, max_bytes: int = MAX_BYTES):
        self.note = config.note(config.address)
        self.left = Amount()
        self.trouble = ""  # why the disk did not take the last report, if it did not
        self.unreadable = 0  # complete lines that were not reports: damaged, or from another version of this client
        self._folder = folder
        self._is_settled = False
        # Others may read the address in the folder of a run that is still to be created.
        self._removes_folder = config.owns_run or not os.path.basename(folder).startswith(LOCAL_PREFIX)
        self._max_bytes = max_bytes
        self._writer = "%013d-%d-%s" % (time.time() * 1000, os.getpid(), os.urandom(3).hex())
        self._own_lock: Optional[FileLock] = None
        self._replay_lock: Optional[FileLock] = None
        self._adopted_locks: List[FileLock] = []
        self._segments: Deque[str] = deque()
        self._bytes = 0
        self._thinned: Set[str] = set()
        self._tail: Optional[BinaryIO] = None
        self._tail_bytes = 0
        self._tail_number = 0
        self._reader: Optional[BinaryIO] = None
        self._head: Optional[Request] = None

    def readdress(self, note: Optional[Note]) -> None:
        """For a run that exists by now."""
        self.note = note
        if note is not None and note.claim is not None and os.path.isdir(self._folder):
            try:
                write_note(self._folder, note)
            except OSError:
                pass  # `sync` then finds the run by its local id

    @property
    def empty(self) -> bool:
        return not self._segments

    def head(self) -> Optional[Request]:
        """The oldest request; stays until `pop`."""
        while self._head is None and self._segments:
            line = self._read_line()
            self._head = _parse(line)
            if self._head is None and line.endswith(b"\n"):
                self.unreadable += 1
            elif self._head is None:
                self._drop_first_segment()  # the end, or a line cut off by a crash
        return self._head

    def pop(self) -> None:
        """Removes the oldest request."""
        oldest = self.head()
        if oldest is not None:
            self.left = self.left.plus(oldest, -1)
        self._head = None
        self.head()

    def make_room(self, request: Request) -> Amount:
        """Drops the oldest points and output to make room where our share of the disk is full. Returns how many."""
        before = self.left
        wanted = self._max_bytes - len(_line(request))
        while self._bytes > max(wanted, 0) and self._thin_oldest():
            pass
        return Amount(before.points - self.left.points, before.reports - self.left.reports)

    def append(self, request: Request) -> bool:
        """False when the disk or our share of it is full: the request is lost."""
        line = _line(request)
        if self._bytes + len(line) > self._max_bytes:
            return False
        try:
            if (self._tail or self._open_tail()).write(line) != len(line):
                raise OSError("the disk is full")
        except OSError as error:
            self.trouble = "%s cannot be written (%s)" % (self._folder, error.strerror or error)
            self._cut_off_half_a_line()
            return False
        self.trouble = ""
        self.left = self.left.plus(request)
        self._bytes += len(line)
        self._tail_bytes += len(line)
        if self._tail_bytes >= SEGMENT_BYTES:
            self._close_tail()
        return True

    def _cut_off_half_a_line(self) -> None:
        """Nothing may follow it, because the reader takes it for the segment's end. Shrinking needs no disk space."""
        if self._tail is not None:
            try:
                self._tail.truncate(self._tail_bytes)
                self._tail.seek(self._tail_bytes)
            except OSError:
                self._close_tail()

    def sync(self) -> None:
        """Returns once all appended requests would survive a power cut."""
        if self._tail is not None:
            _fsync(self._tail)

    def adopt(self) -> bool:
        """Queues the reports that dead processes of this run left. False while another process does so: new reports must wait.
        Raises OSError where the disk allows no lock.

        Call it before anything is appended or sent, because the found requests are older.
        """
        if self._replay_lock is not None or not self._left_by_others():
            return True
        self._replay_lock = take_lock(os.path.join(self._folder, "replay.lock"))
        if self._replay_lock is None:
            return False
        try:
            orphans = self._lock_orphans()
        except OSError:
            self._end_replay()
            raise
        self._segments.extendleft(reversed([name for _, name in orphans]))
        for _, name in orphans:
            for request in self._requests_of(name):
                self.left = self.left.plus(request)
        if not self._segments:
            self._leave()
        elif not orphans:
            self._end_replay()
        return True

    def _lock_orphans(self) -> List[Tuple[str, str]]:
        """Segments of dead writers: nobody holds their lock."""
        orphans: List[Tuple[str, str]] = []
        for writer in self._left_by_others():
            lock = take_lock(self._path(writer + ".lock"))
            if lock is not None:
                self._adopted_locks.append(lock)
                orphans += [found for found in _left_behind(self._folder) if found[0] == writer]
        return orphans

    def _left_by_others(self) -> List[str]:
        return sorted({writer for writer, _ in _left_behind(self._folder)} - {self._writer})

    def close(self) -> None:
        """Leaves unsent requests for the next process."""
        self._close_tail()
        self._close_reader()
        self._leave()
        if self._removes_folder:
            remove_if_empty(self._folder)

    def discard(self) -> None:
        """After `close`: removes what this process left."""
        for name in self._segments:
            if name.startswith(self._writer):
                with contextlib.suppress(OSError):
                    os.unlink(self._path(name))
        self._segments.clear()
        self.left = Amount()
        if self._removes_folder:
            remove_if_empty(self._folder)

    def forget(self) -> None:
        """In a forked child: everything here belongs to the parent."""
        for lock in [*self._adopted_locks, self._replay_lock, self._own_lock]:
            if lock is not None:
                lock.forget()
        for file in (self._tail, self._reader):
            if file is not None:
                file.close()

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _open_tail(self) -> BinaryIO:
        if not self._is_settled:
            self._settle_in()
        self._tail_number += 1
        name = "%s.%06d.jsonl" % (self._writer, self._tail_number)
        # Unbuffered: a line is visible to our own reader, and to the next process if this one is killed.
        fd = os.open(self._path(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._tail = open(fd, "wb", buffering=0)
        self._tail_bytes = 0
        self._segments.append(name)
        return self._tail

    def _settle_in(self) -> None:
        """Starts using the folder; tries again if another process is just removing it because it is empty."""
        for last_try in (False, True):
            try:
                os.makedirs(self._folder, mode=0o700, exist_ok=True)
                self._lock_own()
                if self.note is not None:
                    write_note(self._folder, self.note)
                self._is_settled = True
                return
            except FileNotFoundError:
                if last_try:
                    raise

    def _lock_own(self) -> None:
        try:
            self._own_lock = self._own_lock or take_lock(self._path(self._writer + ".lock"))
        except LocksMissing:
            pass  # nobody else can lock it either, so nobody adopts what lies here while it is written

    def _close_tail(self) -> None:
        if self._tail is not None:
            _fsync(self._tail)
            tail, self._tail = self._tail, None
            try:
                tail.close()
            except OSError:
                pass  # a network file system may report only now that it is full

    def _close_reader(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _read_line(self) -> bytes:
        try:
            if self._reader is None:
                self._reader = open(self._path(self._segments[0]), "rb")
            return self._reader.readline()
        except OSError:
            return b""

    def _drop_first_segment(self) -> None:
        if len(self._segments) == 1:
            self._close_tail()
        self._close_reader()
        name = self._segments.popleft()
        try:
            size = os.path.getsize(self._path(name))
            os.unlink(self._path(name))
            self._bytes -= size if name.startswith(self._writer) else 0
        except OSError:
            pass
        if not self._segments:
            self._leave()

    def _leave(self) -> None:
        """Stops using the folder; removes it, and with it the token, if nothing is left to send."""
        self._end_replay()
        self._is_settled = False
        if self._own_lock is not None:
            self._own_lock.release()
            self._own_lock = None
        if not os.path.basename(self._folder).startswith(LOCAL_PREFIX):
            remove_if_empty(self._folder)

    def _thin_oldest(self) -> bool:
        """Keeps only reports other than points and output in our oldest segment that is neither being read nor written."""
        for name in list(self._segments)[1 if self._head is not None or self._reader is not None else 0 :]:
            is_tail = self._tail is not None and name == self._segments[-1]
            if name.startswith(self._writer) and name not in self._thinned and not is_tail:
                return self._thin(name)
        return False

    def _thin(self, name: str) -> bool:
        kept = self.left
        lines = []
        for request in self._requests_of(name):
            if request.route in _BULK:
                kept = kept.plus(request, -1)
            else:
                lines.append(_line(request))
        try:
            size = os.path.getsize(self._path(name))
            with open(self._path(name + ".new"), "wb") as file:
                file.writelines(lines)
            os.replace(self._path(name + ".new"), self._path(name))
        except OSError:
            return False
        self.left = kept
        self._thinned.add(name)
        self._bytes -= size - sum(map(len, lines))
        return True

    def _requests_of(self, name: str) -> Iterator[Request]:
        try:
            with open(self._path(name), "rb") as file:
                for line in file:
                    request = _parse(line)
                    if request is not None:
                        yield request
        except OSError:
            return

    def _end_replay(self) -> None:
        for lock in [*self._adopted_locks, self._replay_lock]:
            if lock is not None:
                lock.release()
        self._adopted_locks = []
        self._replay_lock = None


def _left_behind(folder: str) -> List[Tuple[str, str]]:
    """`(writer, file name)` of all segments, oldest first: names of writers begin with their start time."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = [(_SEGMENT.match(name), name) for name in names]
    return [(match.group("writer"), name) for match, name in found if match]


def _line(request: Request) -> bytes:
    head = request.route.encode(), request.points
    if request.block:
        return b'{"route":"%s","points":%d,"block":"%s"}\n' % (*head, base64.b64encode(request.block))
    return b'{"route":"%s","points":%d,"body":%s}\n' % (*head, request.body)


def _parse(line: bytes) -> Optional[Request]:
    match = _HEAD.match(line)
    if match is None or not line.endswith(b"}\n"):
        return None
    route, points = match.group(1).decode(), int(match.group(2))
    body = line[match.end() : -2]
    if match.group(3) == b"body":
        return Request(route, body, points)
    try:
        return Request(route, b"", points, base64.b64decode(body[1:-1], validate=True))
    except ValueError:
        return None


def _fsync(file: BinaryIO) -> None:
    try:
        os.fsync(file.fileno())
    except OSError:
        pass
