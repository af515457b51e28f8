"""Sends what earlier processes could not send: `python -m forge sync`."""

from __future__ import annotations

import os
import time
from typing import Callable, List, Mapping, Optional

from .buffer import Buffer
from .config import Config, spool_root
from .uploader import Uploader
from .notices import Notices
from .spool import Spool, read_address, run_folder

EXIT_OK = 0
EXIT_UNAVAILABLE = 6  # as in the command line client

# How long an unresponsive service is tried before its run is left for a later call.
OFFLINE_PATIENCE_S = 15.0


def sync(run_ids: List[str], env: Mapping[str, str], say: Callable[[str], None]) -> int:
    """Sends all runs of the spool, or the named ones. Returns the exit code."""
    root = spool_root(env)
    folders = [run_folder(root, run_id) for run_id in run_ids] or _folders(root)
    if not folders:
        say("nothing to send in %s" % root)
    left = [folder for folder in folders if not _sync_run(folder, env, say)]
    return EXIT_UNAVAILABLE if left else EXIT_OK


def _folders(root: str) -> List[str]:
    try:
        return [entry.path for entry in sorted(os.scandir(root), key=lambda entry: entry.name) if entry.is_dir()]
    except OSError:
        return []


def _sync_run(folder: str, env: Mapping[str, str], say: Callable[[str], None]) -> bool:
    config = _address(folder, env)
    if config is None:
        if os.path.isdir(folder):
            say("%s: no address; set SERVICE_ENDPOINT, SERVICE_RUN_ID and SERVICE_TOKEN" % folder)
        return not os.path.isdir(folder)
    spool = Spool(folder, config)
    if not spool.adopt():
        say("%s: another process is sending it" % config.run_id)
        return False
    if spool.empty:
        spool.close()
        say("%s: nothing to send" % config.run_id)
        return True
    notices = Notices(write=say)
    uploader = Uploader(config, Buffer(), spool, notices, lambda _control: None)
    uploader.start()
    sent = _until_sent(uploader)
    uploader.close(0)
    say("%s: %s" % (config.run_id, "sent" if sent else "not all sent; the rest stays in " + folder))
    return sent


def _until_sent(uploader: Uploader) -> bool:
    """Continues as long as the service accepts requests, however long it takes."""
    offline_since: Optional[float] = None
    while not uploader.flush(1.0):
        if not uploader.offline:
            offline_since = None
        elif uploader.blocked or (offline_since and time.monotonic() - offline_since > OFFLINE_PATIENCE_S):
            return False
        else:
            offline_since = offline_since or time.monotonic()
            time.sleep(0.1)
    return True


def _address(folder: str, env: Mapping[str, str]) -> Optional[Config]:
    """A token in the environment is newer than the one on disk, which may have expired."""
    kept = read_address(folder) or {}
    run_id = env.get("SERVICE_RUN_ID", "")
    if run_id and os.path.basename(folder) == os.path.basename(run_folder("", run_id)):
        fresh = {"endpoint": env.get("SERVICE_ENDPOINT"), "run_id": run_id, "token": env.get("SERVICE_TOKEN")}
        kept = {**kept, **{name: value for name, value in fresh.items() if value}}
    try:
        endpoint, run, token = (str(kept[name]) for name in ("endpoint", "run_id", "token"))
    except KeyError:
        return None
    return Config(endpoint.rstrip("/"), run, token, attempt=None, rank=0, local_rank=0)
