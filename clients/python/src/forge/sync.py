"""Sends reports that earlier processes could not send: `python -m forge sync`."""

from __future__ import annotations

import os
import time
from typing import Callable, List, Mapping, Optional

from .address import UNCLAIMED, Address, Claim, read_note
from .buffer import Buffer
from .config import Config, spool_root
from .last_word import last_word
from .notices import Notices
from .spool import Spool, run_folder
from .uploader import Uploader

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
    left = [folder for folder in folders if not _try_run(folder, env, say)]
    return EXIT_UNAVAILABLE if left else EXIT_OK


def _try_run(folder: str, env: Mapping[str, str], say: Callable[[str], None]) -> bool:
    """A folder that cannot be read does not prevent the others from being sent."""
    try:
        return _sync_run(folder, env, say)
    except Exception as error:
        say("%s: %s: %s" % (folder, type(error).__name__, error))
        return False


def _folders(root: str) -> List[str]:
    try:
        return [entry.path for entry in sorted(os.scandir(root), key=lambda entry: entry.name) if entry.is_dir()]
    except OSError:
        return []


def _sync_run(folder: str, env: Mapping[str, str], say: Callable[[str], None]) -> bool:
    config = _config(folder, env)
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
    created: List[Address] = []
    uploader = Uploader(
        config,
        Buffer(),
        spool,
        Notices(write=say),
        on_control=lambda _control: None,
        find_address=lambda: _find_address(folder, config, env),
        on_address=created.append,
    )
    uploader.start()
    sent = _until_sent(uploader)
    uploader.close(0)
    url = created[-1].url if created else None
    say(last_word(url, spool.left, uploader.lost.amount, folder, uploader.trouble, uploader.lost.why))
    return sent


def _find_address(folder: str, config: Config, env: Mapping[str, str]) -> Address:
    from . import claim

    return config.address or claim.find_address(folder, config, env)


def _until_sent(uploader: Uploader) -> bool:
    """Continues as long as the service accepts requests, however long it takes."""
    offline_since: Optional[float] = None
    while not uploader.flush(1.0):
        if not uploader.offline:
            offline_since = None
        elif offline_since and time.monotonic() - offline_since > OFFLINE_PATIENCE_S:
            return False
        else:
            offline_since = offline_since or time.monotonic()
            time.sleep(0.1)
    return True


def _config(folder: str, env: Mapping[str, str]) -> Optional[Config]:
    """A token in the environment is newer than the one on disk, which may have expired."""
    kept = read_note(folder)
    run_id = env.get("SERVICE_RUN_ID", "")
    if run_id and os.path.basename(folder) == os.path.basename(run_folder("", run_id)):
        endpoint = env.get("SERVICE_ENDPOINT") or (kept.address.endpoint if kept else "")
        token = env.get("SERVICE_TOKEN") or (kept.address.token if kept else "")
        if endpoint and token:
            return _reporting(Address(endpoint.rstrip("/"), run_id, token), None)
    if kept is None:
        return None
    if kept.report_id != kept.address.run_id:  # the reports carry the local id, by which the note names the run
        return _reporting(Address(kept.address.endpoint, kept.report_id, UNCLAIMED), kept.claim)
    return _reporting(kept.address, kept.claim)


def _reporting(address: Address, claim: Optional[Claim]) -> Config:
    return Config(*address, attempt=None, rank=0, local_rank=0, claim=claim, owns_run=True)
