"""Temporary folders that end with the object that they belong to, and at the latest with the process."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from typing import Any


class _Process:
    """An owner that no code drops."""


_PROCESS = _Process()


def temporary_folder(prefix: str, owner: Any = None) -> str:
    """Removed when `owner` is, or by default at the end of the process."""
    folder = tempfile.mkdtemp(prefix=prefix)
    weakref.finalize(_PROCESS if owner is None else owner, _remove, folder, os.getpid())
    return folder


def _remove(folder: str, creator: int) -> None:
    if os.getpid() == creator:  # a forked process inherits the duty, but not the folder
        shutil.rmtree(folder, ignore_errors=True)
