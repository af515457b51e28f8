"""Creates the run of code outside a job: at once, or when the service can be reached again."""

from __future__ import annotations

import json
import os
import re
import time
from typing import Any, Dict, Mapping, Optional
from urllib.parse import quote

from .address import LOCAL_PREFIX, UNCLAIMED, Address, Claim, Note, read_note, write_note
from .answers import accepts, describe, is_ours
from .config import Config, ConfigError, ForgeError
from .describing import NAME_CHARS, tag_list
from .notices import say
from .sign_in import SignIn, current_sign_in, sign_in_at
from .texts import printable_name
from .transport import Reply, Transport, Unreachable

# How long `init` waits for the run to be created before training starts without it.
PATIENCE_S = 5.0

_PROJECT = re.compile(r"(?!run_)[a-z0-9][a-z0-9_.-]{0,62}\Z")

_MAY_PASS = frozenset({404, 405, 408, 425, 429})

TWO_WAYS_OUT = (
    "You are not signed in. Either sign in with `forge login --host URL` (or set FORGE_HOST and FORGE_TOKEN), "
    "or set SERVICE_ENABLED=0 to train without reporting"
)


class NotYet(Exception):
    """The run could not be created now; its reports wait."""


class Refused(ForgeError):
    """The service will not create this run."""


def begin_run(body: Mapping[str, Any], env: Mapping[str, str]) -> Config:
    """The configuration of a run created here, or still to be created if the service cannot be reached."""
    signed_in = current_sign_in(env)
    if signed_in is None:
        raise ConfigError(TWO_WAYS_OUT)
    _check_project(body.get("project"))
    local_id = new_local_id()
    claim = Claim(signed_in.host, _with_valid_names(body))
    try:
        address = _create(claim, local_id, signed_in, None, env)
    except NotYet:
        address = Address(_endpoint(claim.host), local_id, UNCLAIMED)
    except Refused as error:
        raise ConfigError(str(error), error.status) from None
    return Config(*address, attempt=None, rank=0, local_rank=0, claim=claim, owns_run=True)


def _with_valid_names(body: Mapping[str, Any]) -> Dict[str, Any]:
    """A run is not refused for its name or a tag."""
    name = None if body.get("name") is None else str(body["name"]).strip()
    tags = [tag for tag in (str(tag).strip() for tag in body.get("tags", ())) if tag]
    named, tagged = None if name is None else printable_name(name, NAME_CHARS), tag_list(tags)
    if (named, set(tagged)) != (name, set(tags)):
        say("forge: warning: the run is created with the name %r and the tags %r, as others cannot be stored" % (named, tagged))
    return {**body, "name": named or None, "tags": tagged}


def _check_project(project: Any) -> None:
    """The service would refuse the run, if it cannot be reached now even after the training."""
    if _PROJECT.match(str(project)):
        return
    near = project_near(str(project))
    hint = ", such as %r" % near if near else ""
    raise ConfigError(
        "a project cannot be named %r: use 1 to 63 of a-z, 0-9, '_', '.' and '-', beginning with a letter or digit%s" % (project, hint)
    )


def project_near(text: str) -> str:
    """As `projectNameOf` in `schemas/runs/runs.ts`; empty if nothing is left."""
    if _PROJECT.match(text):
        return text
    plain = re.sub(r"[^a-z0-9_.-]+", "-", text.lower())
    return re.sub(r"^(?:[^a-z0-9]|run_)+", "", plain)[:63].rstrip("-.")


def new_local_id() -> str:
    """Also the Idempotency-Key under which its run is created."""
    return "%s%013d_%s" % (LOCAL_PREFIX, time.time() * 1000, os.urandom(8).hex())


def find_address(folder: str, config: Config, env: Mapping[str, str]) -> Address:
    """The address of a run that did not exist when it began. Raises `NotYet`, or `Refused`."""
    note = read_note(folder)
    if note is not None and note.is_claimed:
        return note.address
    claim = config.claim or (note.claim if note is not None else None)
    if claim is None or not config.owns_run:
        raise NotYet("`forge run` has not created the run yet")
    signed_in = sign_in_at(claim.host, env)
    if signed_in is None:
        raise NotYet("you are no longer signed in; `forge login --host %s`" % claim.host)
    address = _create(claim, config.run_id, signed_in, folder, env)
    if os.path.isdir(folder):
        write_note(folder, Note(address, config.run_id, claim))
    return address


def _create(claim: Claim, key: str, signed_in: SignIn, folder: Optional[str], env: Mapping[str, str]) -> Address:
    """An access token works for hours, a sign-in for weeks."""
    try:
        return _create_with(claim, key, signed_in, folder)
    except Refused as error:
        token = _token_after(error, signed_in, env)
        if token is None:
            raise
    return _create_with(claim, key, SignIn(signed_in.host, token), folder)


def _token_after(error: Refused, signed_in: SignIn, env: Mapping[str, str]) -> Optional[str]:
    if error.status != 401:
        return None
    from .renewal import renewed_token  # loaded when needed, which is rare

    try:
        return renewed_token(signed_in.host, signed_in.token, env)
    except Unreachable as unreachable:
        raise NotYet(str(unreachable)) from unreachable


def _create_with(claim: Claim, key: str, signed_in: SignIn, folder: Optional[str]) -> Address:
    """Repeating it creates nothing twice. A repeated response has no token, so another one is issued then."""
    transport = Transport(claim.host, signed_in.token, PATIENCE_S, header="Authorization")
    try:
        created = _ask(transport, "/api/runs", claim.body, {"Idempotency-Key": key})
        run_id, token = str(created["run_id"]), created.get("token")
        note = None if token or folder is None else read_note(folder)
        if note is not None and note.is_claimed:  # by another process, just now
            return note.address
        if not token:
            token = _ask(transport, "/api/runs/%s/token" % quote(run_id), {}, {})["token"]
        return Address(_endpoint(claim.host), run_id, str(token))
    except Unreachable as error:
        raise NotYet(str(error)) from error
    finally:
        transport.close()


def _ask(transport: Transport, path: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> Dict[str, Any]:
    sent = {"Content-Type": "application/json", **headers}
    reply = transport.request("POST", path, json.dumps(body).encode(), sent)
    if accepts(reply):
        answer: Dict[str, Any] = json.loads(reply.body)
        return answer
    raise _failure(reply)


def _failure(reply: Reply) -> Exception:
    what = "the run was not created: %s" % describe(reply)
    if not is_ours(reply) or reply.status >= 500 or reply.status in _MAY_PASS:
        return NotYet(what)
    if reply.status == 401:
        what += " (`forge login`; FORGE_TOKEN, if it is set, comes first)"
    return Refused(what, reply.status)


def _endpoint(host: str) -> str:
    """The address that worked for us; the address that the service gives need not work from here."""
    return host + "/api/ingest"
