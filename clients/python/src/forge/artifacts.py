"""Registers artifacts: at once, on the caller's thread, and raising on failure (specification "Ingest", artifact)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import time
from typing import IO, Any, Callable, Dict, Iterator, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import urlencode, urlsplit

from .address import Address
from .answers import accepts, describe, is_ours
from .config import Config, ForgeError
from .encode import valid_key
from .texts import storable
from .transport import Reply, Transport, Unreachable
from .values import is_finite, scalars, to_step

KINDS = ("checkpoint", "hf_export", "eval_report", "merged_model")

# Long enough for a restart of the server: training waits rather than losing a checkpoint.
_PATIENCE_S = 60.0

_UPLOAD_TIMEOUT_S = 120.0

# One request sends this much: the service ends one after two minutes, and a broken line loses little.
_PIECE_BYTES = 16 * 1024 * 1024

_MAY_PASS = frozenset({408, 425, 429})
_TRIES_ON_500 = 6

# The response of the route for uploads if it does not exist, or has no store behind it.
_NO_STORE = frozenset({404, 405, 501})


class Artifact(NamedTuple):
    kind: str  # one of KINDS
    path: str  # absolute, or the address of an object
    format: str
    step: Optional[int]
    size_bytes: Optional[int]
    metrics: Mapping[str, Any]


class ArtifactError(ForgeError):
    """A mistake in the call, which does not end training."""


def artifact_of(
    kind: Any, path: Any, format: Any, step: Any, size_bytes: Optional[int], metrics: Any, upload: bool
) -> Artifact:
    """Checks the call. A path that is not an address must exist here: the caller has just written it."""
    if kind not in KINDS:
        raise ArtifactError("kind must be one of %s, not %r" % (", ".join(KINDS), kind))
    if not isinstance(format, str) or not format:
        raise ArtifactError("format must name the format of the file, such as 'safetensors', not %r" % (format,))
    where = _absolute(os.fsdecode(path))
    if storable(where) != where:
        raise ArtifactError("the path %s is not valid text (UTF-8); rename the file" % ascii(where))
    if not _is_address(where) and not os.path.exists(where):
        raise ArtifactError("no such file: %s" % where)
    if upload:
        _refuse_unsendable(where)
    return Artifact(
        kind=kind,
        path=where,
        format=storable(format),
        step=None if step is None else to_step(step),
        size_bytes=size_bytes,
        metrics={key: value for key, value in scalars(metrics or {})[0] if valid_key(key)},
    )


def _refuse_unsendable(where: str) -> None:
    if os.path.isdir(where):
        from .folders import entries_of

        try:
            entries_of(where)
        except ValueError as error:
            raise ArtifactError("cannot upload %s: %s" % (where, error)) from error
    elif not os.path.isfile(where):
        raise ArtifactError("cannot upload %s: neither a file nor a folder" % where)
    elif os.path.getsize(where) == 0:
        raise ArtifactError("cannot upload %s: it is empty" % where)


def _absolute(path: str) -> str:
    """A relative path means nothing elsewhere."""
    return path if _is_address(path) else os.path.abspath(path)


def _is_address(path: str) -> bool:
    return "://" in path


def body_for_later(config: Config, artifact: Artifact, upload: bool) -> Dict[str, Any]:
    """Without the run id, which the run has yet to receive."""
    if upload:
        raise ForgeError("cannot upload %s: the run could not be created yet" % artifact.path)
    body = body_of(config, artifact)
    del body["run_id"]
    return body


def body_of(config: Config, artifact: Artifact) -> Dict[str, Any]:
    body: Dict[str, Any] = {"run_id": config.run_id, **artifact._asdict()}
    body["metrics"] = {key: value for key, value in artifact.metrics.items() if is_finite(value)} or None
    body["attempt"] = config.attempt
    if artifact.size_bytes is None and os.path.isfile(artifact.path):
        body["size_bytes"] = os.path.getsize(artifact.path)
    return {key: value for key, value in body.items() if value is not None}


def register(config: Config, address: Address, artifact: Artifact, upload: bool) -> Dict[str, Any]:
    """Returns the service's reply: `{ok, artifact_id, created, status}`."""
    body = {**body_of(config, artifact), "run_id": address.run_id}
    transport = Transport(address.endpoint, address.token)
    try:
        if upload:
            body.update(_upload(transport, address, artifact))
        text = json.dumps(body).encode()
        return _answer(lambda: transport.post("artifact", text), "artifact %s" % artifact.path)
    finally:
        transport.close()


def _upload(transport: Transport, address: Address, artifact: Artifact) -> Dict[str, Any]:
    """Puts the file, or the packed folder, into the object store; returns the address to register instead of the local path."""
    with _opened(artifact.path) as (filename, file):
        return _send(transport, address, artifact, filename, file)


@contextlib.contextmanager
def _opened(path: str) -> Iterator[Tuple[str, IO[bytes]]]:
    if os.path.isdir(path):
        from .folders import SUFFIX, packed

        with packed(path) as file:
            yield os.path.basename(path) + SUFFIX, file
    else:
        with open(path, "rb") as file:
            yield os.path.basename(path), file


def _send(
    transport: Transport, address: Address, artifact: Artifact, filename: str, file: IO[bytes]
) -> Dict[str, Any]:
    size, digest = file.seek(0, os.SEEK_END), _sha256(file)
    query = {
        "run_id": address.run_id,
        "kind": artifact.kind,
        "format": artifact.format,
        "filename": filename,
        "size_bytes": size,
        "sha256": digest,
    }
    if artifact.step is not None:
        query["step"] = artifact.step
    path = "/artifact/upload-url?" + urlencode(query)
    try:
        target = _answer(lambda: transport.request("GET", path, None, {}), "upload of %s" % artifact.path)
    except ForgeError as error:
        if error.status in _NO_STORE:
            why = "this Forge has no object store; leave out upload=True and give a path that others can read"
            raise ArtifactError("cannot upload %s: %s" % (artifact.path, why), error.status) from error
        raise
    if not target.get("exists"):
        if size > target.get("max_bytes", size):
            raise ForgeError("%s has %d bytes, more than %d" % (artifact.path, size, target["max_bytes"]))
        _send_rest(target, file, size, "upload of %s" % artifact.path)
    return {"path": target["path"], "upload_id": target["upload_id"], "size_bytes": size, "sha256": digest}


def _send_rest(target: Dict[str, Any], file: IO[bytes], size: int, what: str) -> None:
    """Sends the missing pieces. A piece may be sent again: it replaces itself."""
    at = target.get("received_bytes", 0)
    while at < size:
        file.seek(at)
        piece = file.read(min(_PIECE_BYTES, size - at))
        if not piece:
            raise ForgeError("%s: the file shrank meanwhile" % what)
        headers = {} if len(piece) == size else {"Content-Range": _range(at, len(piece), size)}
        _answer(lambda: _put(target, piece, headers), what, by_forge=False)
        at += len(piece)


def _range(at: int, length: int, size: int) -> str:
    return "bytes %d-%d/%d" % (at, at + length - 1, size)


def _put(target: Dict[str, Any], piece: bytes, further: Mapping[str, str]) -> Reply:
    """The signed URL is its own credential; our token must not be sent to the object store."""
    import http.client

    url = urlsplit(target["url"])
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=_UPLOAD_TIMEOUT_S)
    where = url.path + ("?" + url.query if url.query else "")
    try:
        headers = {**target.get("headers", {}), **further, "Content-Length": str(len(piece))}
        connection.request(target.get("method", "PUT"), where, body=piece, headers=headers)
        response = connection.getresponse()
        return Reply(response.status, response.headers, response.read(1024 * 1024))
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable("%s: %s" % (type(error).__name__, error)) from error
    finally:
        connection.close()


def _answer(ask: Callable[[], Reply], what: str, by_forge: bool = True) -> Dict[str, Any]:
    """Retries while the service is unreachable. Registering and putting twice has the same effect as once."""
    deadline = time.monotonic() + _PATIENCE_S
    tries = 0
    while True:
        tries += 1
        reply, why = _try(ask)
        if reply is not None and (accepts(reply) if by_forge else 200 <= reply.status < 300):
            return json.loads(reply.body) if by_forge else {}
        if (reply is not None and _is_final(reply, tries)) or time.monotonic() > deadline:
            raise ForgeError("%s: %s" % (what, why), reply.status if reply is not None else None)
        time.sleep(random.uniform(0, min(8.0, 0.5 * 2**tries)))


def _is_final(reply: Reply, tries: int) -> bool:
    """Whether the service itself refuses, or a store, which is not Forge, with its 4xx."""
    if is_ours(reply) or b"<Error>" in reply.body:
        return reply.status not in _MAY_PASS and (reply.status < 500 or reply.status == 501 or tries >= _TRIES_ON_500)
    return False


def _try(ask: Callable[[], Reply]) -> Tuple[Optional[Reply], str]:
    try:
        reply = ask()
    except Unreachable as error:
        return None, str(error)
    return reply, describe(reply)


def _sha256(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    file.seek(0)
    for block in iter(lambda: file.read(1024 * 1024), b""):
        digest.update(block)
    return digest.hexdigest()
