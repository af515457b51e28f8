"""Registers artifacts: at once, on the caller's thread, and raising on failure (specification "Ingest", artifact)."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import time
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import urlencode, urlsplit

from .answers import RETRY, detail_of, judge
from .buffer import Request
from .config import Config, ForgeError
from .transport import Reply, Transport, Unreachable

# Long enough for a restart of the server: training waits rather than losing a checkpoint.
_PATIENCE_S = 60.0

_UPLOAD_TIMEOUT_S = 120.0


class Artifact(NamedTuple):
    kind: str  # checkpoint, hf_export, eval_report, merged_model
    path: str
    format: str
    step: Optional[int]
    size_bytes: Optional[int]
    metrics: Mapping[str, Any]


def register(config: Config, artifact: Artifact, upload: bool) -> Dict[str, Any]:
    """Returns the service's reply: `{ok, artifact_id, created, status}`."""
    body: Dict[str, Any] = {"run_id": config.run_id, **artifact._asdict()}
    body["metrics"] = {key: value for key, value in artifact.metrics.items() if math.isfinite(value)} or None
    body["attempt"] = config.attempt
    if artifact.size_bytes is None and os.path.isfile(artifact.path):
        body["size_bytes"] = os.path.getsize(artifact.path)
    transport = Transport(config.endpoint, config.token)
    try:
        if upload:
            body.update(_upload(transport, config, artifact))
        text = json.dumps({key: value for key, value in body.items() if value is not None}).encode()
        return _answer(lambda: transport.post("artifact", text), "artifact %s" % artifact.path)
    finally:
        transport.close()


def _upload(transport: Transport, config: Config, artifact: Artifact) -> Dict[str, Any]:
    """Puts the file into the object store; returns what to register instead of the local path."""
    if not os.path.isfile(artifact.path):
        raise ForgeError("cannot upload %s: not a file (pack a directory first)" % artifact.path)
    size, digest = os.path.getsize(artifact.path), _sha256(artifact.path)
    query = {
        "run_id": config.run_id,
        "kind": artifact.kind,
        "format": artifact.format,
        "filename": os.path.basename(artifact.path),
        "size_bytes": size,
        "sha256": digest,
    }
    if artifact.step is not None:
        query["step"] = artifact.step
    path = "/artifact/upload-url?" + urlencode(query)
    target = _answer(lambda: transport.request("GET", path, None, {}), "upload of %s" % artifact.path)
    if not target.get("exists"):
        if size > target.get("max_bytes", size):
            raise ForgeError("%s has %d bytes, more than %d" % (artifact.path, size, target["max_bytes"]))
        _answer(lambda: _put(target, artifact.path, size), "upload of %s" % artifact.path)
    return {"path": target["path"], "upload_id": target["upload_id"], "size_bytes": size, "sha256": digest}


def _put(target: Dict[str, Any], path: str, size: int) -> Reply:
    """The signed URL is its own credential; our token must not be sent to the object store."""
    import http.client

    url = urlsplit(target["url"])
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=_UPLOAD_TIMEOUT_S)
    where = url.path + ("?" + url.query if url.query else "")
    try:
        with open(path, "rb") as file:
            headers = {**target.get("headers", {}), "Content-Length": str(size)}
            connection.request(target.get("method", "PUT"), where, body=file, headers=headers)
            response = connection.getresponse()
            return Reply(response.status, response.headers, response.read(1024 * 1024))
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable("%s: %s" % (type(error).__name__, error)) from error
    finally:
        connection.close()


def _answer(ask: Callable[[], Reply], what: str) -> Dict[str, Any]:
    """Tries again while the service is unreachable. Registering and putting twice has the same effect as once."""
    deadline = time.monotonic() + _PATIENCE_S
    tries = 0
    while True:
        tries += 1
        reply, why = _try(ask)
        if reply is not None and 200 <= reply.status < 300:
            return json.loads(reply.body) if reply.body.startswith(b"{") else {}
        passing = reply is None or judge(Request("artifact", b"", 1), reply, tries).action == RETRY
        if not passing or time.monotonic() > deadline:
            raise ForgeError("%s: %s" % (what, why), reply.status if reply is not None else None)
        time.sleep(random.uniform(0, min(8.0, 0.5 * 2**tries)))


def _try(ask: Callable[[], Reply]) -> Tuple[Optional[Reply], str]:
    try:
        reply = ask()
    except Unreachable as error:
        return None, str(error)
    return reply, "%d %s" % (reply.status, detail_of(reply))


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1024 * 1024), b""):
            digest.update(block)
    return digest.hexdigest()
