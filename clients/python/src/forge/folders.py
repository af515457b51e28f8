"""Packs a folder into one file, as the service unpacks it for a run that starts from it."""

from __future__ import annotations

import contextlib
import gzip
import os
import tarfile
import tempfile
from typing import IO, Iterator, List, Tuple

# Marks the file for the service as a packed folder.
SUFFIX = ".folder.tar.gz"

# The most files and folders that the service unpacks.
_MAX_ENTRIES = 20_000


class NotPacked(ValueError):
    """The folder has content that cannot be packed."""


def entries_of(folder: str) -> List[Tuple[str, str]]:
    """Names within the folder with their paths, in a fixed order. A link to a file counts as the file."""
    found: List[Tuple[str, str]] = []
    for place, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(place, name)
            if os.path.islink(path) and not os.path.isfile(path):
                raise NotPacked("%s is a link to something other than a file" % path)
            if not (os.path.isfile(path) or os.path.isdir(path)):
                raise NotPacked("%s is neither a file nor a folder" % path)
            found.append((os.path.relpath(path, folder), path))
    if len(found) > _MAX_ENTRIES:
        raise NotPacked("%s has %d files and folders, more than %d" % (folder, len(found), _MAX_ENTRIES))
    if not any(os.path.isfile(path) for _, path in found):
        raise NotPacked("%s holds no file" % folder)
    return sorted(found)


@contextlib.contextmanager
def packed(folder: str) -> Iterator[IO[bytes]]:
    """The folder as a `.tar.gz` in a temporary file next to it. The same content produces the same bytes."""
    with _room_beside(folder) as file:
        # Weights hardly compress, and the reader can see their size from that of the file.
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=0, mtime=0) as squeezed:
            with tarfile.open(fileobj=squeezed, mode="w", format=tarfile.PAX_FORMAT, dereference=True) as archive:
                for name, path in entries_of(folder):
                    _add(archive, name, path)
        file.flush()
        file.seek(0)
        yield file


def _add(archive: tarfile.TarFile, name: str, path: str) -> None:
    # Without hard links to earlier entries, which gettarinfo() creates for files with several names.
    archive.inodes = {}  # type: ignore[attr-defined]
    entry = archive.gettarinfo(path, arcname=name)
    entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    if entry.isdir():
        archive.addfile(entry)
        return
    with open(path, "rb") as content:
        archive.addfile(entry, content)


def _room_beside(folder: str) -> IO[bytes]:
    try:
        return tempfile.TemporaryFile(dir=os.path.dirname(os.path.abspath(folder)))
    except OSError:
        return tempfile.TemporaryFile()
