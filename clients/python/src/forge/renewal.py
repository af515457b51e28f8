"""Renews the access token of a stored sign-in with its cookie, as the command line does (`clients/cli/login/renewal.ts`).

A cookie works once, and a second use ends the session, so all commands and processes take turns (`in_turn`).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import time
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, Iterator, Mapping, Optional

from .answers import accepts, is_ours
from .sign_in import contexts_path, normal_host
from .transport import Reply, Transport, Unreachable

# As in `clients/cli/login/in-turn.ts`: an older lock belongs to a process that was killed.
_ABANDONED_S = 40.0
_LOOK_EVERY_S = 0.05

# How long `init` waits for others, and then for the service.
_PATIENCE_S = 5.0

_COOKIE = re.compile(r"^((?:__Secure-)?forge_refresh=[\w-]+)(?:;|$)")


def renewed_token(host: str, refused: str, env: Mapping[str, str]) -> Optional[str]:
    """The token in place of one that the service refused; `None`: sign in again. Raises `Unreachable`."""
    if env.get("FORGE_TOKEN") == refused:
        return None
    path = contexts_path(env)
    try:
        with in_turn(path):
            return _renewed(path, host, refused)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # such as a file that cannot be written: its cookie must not be used


def _renewed(path: str, host: str, refused: str) -> Optional[str]:
    with open(path, encoding="utf-8") as file:
        stored = json.load(file)
    here = [one for one in stored["contexts"].values() if normal_host(str(one.get("host"))) == host]
    context = next((one for one in here if one.get("token") == refused), None)
    if context is None:  # renewed by another process, just now
        return next((str(one["token"]) for one in here if one.get("token")), None)
    refresh = context.get("refresh")
    if not refresh or _instant(refresh["expires_at"]) <= datetime.now(timezone.utc):
        return None
    transport = Transport(host, str(refresh["cookie"]), _PATIENCE_S, header="Cookie")
    try:
        reply = transport.request("POST", "/api/auth/refresh", b"{}", {"Content-Type": "application/json"})
    finally:
        transport.close()
    if accepts(reply):
        context["token"], context["refresh"] = json.loads(reply.body)["token"], _next_refresh(reply)
    elif is_ours(reply) and reply.status == 401:  # the session has ended, so its cookie is useless
        context["token"] = context["refresh"] = None
    else:
        raise Unreachable("the sign-in was not renewed: %d" % reply.status)
    _write(path, stored)
    return None if context["token"] is None else str(context["token"])


def _next_refresh(reply: Reply) -> Optional[Dict[str, str]]:
    for header in reply.headers.get_all("Set-Cookie") or ():
        cookie, age = _COOKIE.match(header), re.search(r";\s*max-age=(\d+)", header, re.IGNORECASE)
        if cookie and age:
            ends = datetime.now(timezone.utc) + timedelta(seconds=int(age.group(1)))
            return {"cookie": cookie.group(1), "expires_at": ends.strftime("%Y-%m-%dT%H:%M:%S+00:00")}
    return None


def _instant(text: Any) -> datetime:
    return datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%S%z")


def _write(path: str, stored: Any) -> None:
    """Atomically, and readable only by its owner."""
    following = "%s.%d" % (path, os.getpid())
    with contextlib.suppress(FileNotFoundError):
        os.unlink(following)
    fd = os.open(following, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(fd, "w", encoding="utf-8") as file:
        json.dump(stored, file, indent=2, ensure_ascii=False)
        file.write("\n")
    os.replace(following, path)


@contextlib.contextmanager
def in_turn(path: str) -> Iterator[None]:
    """While no other process holds the lock of the file: a folder with one file, named by its holder. Raises `Unreachable`."""
    lock, own = path + ".lock", str(uuid.uuid4())
    deadline = time.monotonic() + _PATIENCE_S
    while not _take(lock, own):
        if time.monotonic() > deadline:
            raise Unreachable("other commands hold %s" % lock)
        time.sleep(_LOOK_EVERY_S)
    try:
        yield
    finally:
        _release(lock, own)


def _take(lock: str, own: str) -> bool:
    if not _is_free(lock):
        return False
    following = "%s.%s" % (lock, own)
    os.mkdir(following)
    try:
        with open(os.path.join(following, own), "w", encoding="utf-8"):
            pass
        os.rename(following, lock)  # refused if that holds a file
        return True
    except OSError:
        shutil.rmtree(following, ignore_errors=True)
        if os.path.isdir(lock):
            return False
        raise


def _is_free(lock: str) -> bool:
    """Opens a lock that was abandoned."""
    try:
        holders = os.listdir(lock)
    except FileNotFoundError:
        return True
    if not holders:
        return True
    try:
        age = time.time() - os.stat(os.path.join(lock, holders[0])).st_mtime
    except FileNotFoundError:
        return False
    if age > _ABANDONED_S:
        _release(lock, holders[0])
        return True
    return False


def _release(lock: str, holder: str) -> None:
    """Nothing happens to the lock of another holder: its folder is not empty."""
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(lock, holder))
    with contextlib.suppress(OSError):
        os.rmdir(lock)
