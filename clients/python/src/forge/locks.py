"""Advisory locks on files, held until closed or the process ends, however it ends."""

from __future__ import annotations

import errno
import os
from typing import Optional


class LocksMissing(OSError):
    """The file system has no locks, as is true of some network file systems."""


try:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EINTR):
                return False
            raise LocksMissing(error.errno, "no locks in this file system (%s)" % error.strerror) from error

except ImportError:  # Windows
    import msvcrt

    def _try_lock(fd: int) -> bool:
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
            return True
        except OSError:
            return False


class FileLock:
    """A lock that is held. `release` also removes the file, so that an empty spool leaves no trace."""

    def __init__(self, path: str, fd: int):
        self.path = path
        self._fd = fd

    def release(self) -> None:
        if self._fd < 0:
            return
        try:
            os.unlink(self.path)  # before the lock is released: afterwards it could be another process's file
        except OSError:
            pass
        self.forget()

    def forget(self) -> None:
        """Closes without removing: after a fork the lock is the parent's, and closing the copy does not release it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def take_lock(path: str) -> Optional[FileLock]:
    """Returns `None` while another process (or another lock of this process) holds it.

    Raises OSError where the disk allows no file, or has no locks.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if _try_lock(fd) and _still_there(path, fd):
            kept, fd = fd, -1
            return FileLock(path, kept)
        return None
    finally:
        if fd >= 0:
            os.close(fd)


def _still_there(path: str, fd: int) -> bool:
    """The holder before us may have removed the file between our open and our lock."""
    try:
        there, ours = os.stat(path), os.fstat(fd)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)
