"""Where the reports of a run go, and the note about it stored with unsent reports (`run.json`).

A run that began while the service could not be reached has no id and no token yet. Its reports carry a local id, which
is replaced by the id of the run when they are sent; the note says which run to create (`claim.py`).
"""

from __future__ import annotations

import json
import os
from typing import Any, Dict, Mapping, NamedTuple, Optional

# The token of a run that is still to be created, also in SERVICE_TOKEN.
UNCLAIMED = "unclaimed"

# Run ids of the service begin with `run_`.
LOCAL_PREFIX = "local_"

_NOTE = "run.json"


class Address(NamedTuple):
    endpoint: str  # without a trailing slash
    run_id: str
    token: str

    @property
    def url(self) -> str:
        """The run's page, on the host that receives its reports."""
        suffix = "/api/ingest"
        base = self.endpoint[: -len(suffix)] if self.endpoint.endswith(suffix) else self.endpoint
        return "%s/runs/%s" % (base, self.run_id)


class Claim(NamedTuple):
    """The run to create for reports that have none yet."""

    host: str
    body: Mapping[str, Any]  # of POST /api/runs


class Note(NamedTuple):
    """`report_id` is the run id that the reports carry: a local one if they are older than the run."""

    address: Address
    report_id: str
    claim: Optional[Claim]

    @property
    def is_claimed(self) -> bool:
        return self.address.token != UNCLAIMED


def read_note(folder: str) -> Optional[Note]:
    try:
        with open(os.path.join(folder, _NOTE), encoding="utf-8") as file:
            kept = json.load(file)
        address = Address(str(kept["endpoint"]).rstrip("/"), str(kept["run_id"]), str(kept["token"]))
        claim = kept.get("claim")
        return Note(
            address,
            report_id=str(kept.get("local_id") or address.run_id),
            claim=None if claim is None else Claim(str(claim["host"]), dict(claim["body"])),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def write_note(folder: str, note: Note) -> None:
    """Does not overwrite the note of a claimed run with one that says the run is still to be created."""
    if not note.is_claimed and read_note(folder) is not None:
        return
    # The token is stored (0600, for this run only) so that `python -m forge sync` works after the job has ended.
    kept: Dict[str, Any] = dict(note.address._asdict())
    if note.report_id != note.address.run_id:
        kept["local_id"] = note.report_id
    if note.claim is not None:
        kept["claim"] = note.claim._asdict()
    path = os.path.join(folder, _NOTE)
    # Never an existing file: in a folder that others can write to, it could be a link to another file of ours.
    next_path = "%s.%s" % (path, os.urandom(4).hex())
    fd = os.open(next_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(fd, "w", encoding="utf-8") as file:
            json.dump(kept, file)
        os.replace(next_path, path)
    except OSError:
        os.unlink(next_path)
        raise


def remove_if_empty(folder: str) -> None:
    """Removes the token from the disk as soon as nothing is left to send."""
    try:
        if os.listdir(folder) == [_NOTE]:
            os.unlink(os.path.join(folder, _NOTE))
        os.rmdir(folder)
    except OSError:
        pass  # others use it, or it never existed
