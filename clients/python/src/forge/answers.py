"""Interprets the service's response to a request."""

from __future__ import annotations

import json
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .points import Request
from .transport import Reply

ACCEPTED = "accepted"
RETRY = "retry"  # send the same again, later
BEHIND = "behind"  # send everything else first, then the same again
REFUSED = "refused"  # it will never be accepted: drop it
REPLACED = "replaced"  # send these instead

# The part of a report that holds its items, each of which may be refused alone.
PARTS = {"metrics": "points", "hparams": "params", "validation": "samples", "hardware": "points"}

# Statuses by which the service judges the request itself. All others may be temporary, or come from a proxy.
_REFUSALS = frozenset({400, 409, 422})

_OF_THE_MOMENT = frozenset({401, 403, 409, 429, 500, 502, 503, 504})

# The request may have caused the server's error, so it must not block all later ones forever.
_TRIES_ON_500 = 6

# A proxy that refuses an even smaller request for its size is broken, and refuses everything.
_LARGE_BYTES = 64 * 1024

# The service never accepts this token again, unless its own fault was the reason: retry rarely.
_NOT_ACCEPTED = frozenset({401, 403})
TOKEN_PAUSE_S = 60.0

# Every server has these routes; an older server may lack others.
_ROUTES_OF_ALL_SERVERS = frozenset({"metrics", "hparams", "lifecycle", "artifact"})
# A missing one is not worth a warning.
_OPTIONAL_ROUTES = frozenset({"hardware", "environment", "environment/nodes"})
# Errors about output must be ignored (specification).
_QUIET_ROUTES = _OPTIONAL_ROUTES | {"logs"}
# The hourly limit: everything behind it would wait that long, and by then the news is old.
_TOO_MANY_ALERTS = "alert.too_many"
_NO_SUCH_ROUTE = frozenset({404, 405, 501})


class Verdict(NamedTuple):
    action: str
    detail: str = ""
    replacements: Tuple[Request, ...] = ()
    quiet: bool = False
    pause_s: Optional[float] = None  # None: the default


def judge(request: Request, reply: Reply, tries: int) -> Verdict:
    """`tries` includes this one."""
    status = reply.status
    if accepts(reply):
        return Verdict(ACCEPTED)
    detail = describe(reply)
    if status == 413:
        return _too_large(request, reply, detail)
    if not is_ours(reply):
        return Verdict(RETRY, detail)
    if status in _REFUSALS:
        pieces = _without_rejected(request, reply) if status == 422 else ()
        return Verdict(REPLACED, detail, pieces) if pieces else Verdict(REFUSED, detail, quiet=request.route == "logs")
    if status in _NO_SUCH_ROUTE and request.route not in _ROUTES_OF_ALL_SERVERS:
        missing = "this server does not take them (%s)" % detail
        return Verdict(REFUSED, missing, quiet=request.route in _QUIET_ROUTES)
    if status == 429 and _json(reply.body).get("code") == _TOO_MANY_ALERTS:
        return Verdict(REFUSED, detail)
    if status == 429 and request.route in _OPTIONAL_ROUTES:
        return Verdict(BEHIND, detail)
    if status == 500:
        return Verdict(retry_or_behind(tries), detail)
    return Verdict(RETRY, detail, pause_s=TOKEN_PAUSE_S if status in _NOT_ACCEPTED else None)


def retry_or_behind(tries: int) -> str:
    """For a request that may itself be the cause."""
    return BEHIND if tries >= _TRIES_ON_500 else RETRY


def _too_large(request: Request, reply: Reply, detail: str) -> Verdict:
    """Smaller requests may pass, also through a proxy. A request that cannot be halved may pass after the limit is raised."""
    pieces = _halves(request) if request.route == "metrics" else ()
    if pieces:
        return Verdict(REPLACED, detail, pieces)
    if is_ours(reply):
        return Verdict(REFUSED, detail)
    return Verdict(BEHIND if len(request.body) > _LARGE_BYTES else RETRY, detail)


def is_ours(reply: Reply) -> bool:
    """Whether the service itself responded, rather than a proxy in front of it or another program at its address."""
    detail = _json(reply.body).get("detail")
    return isinstance(detail, (str, list)) and bool(reply.headers.get("X-Request-Id"))


def accepts(reply: Reply) -> bool:
    """Every success of an ingest route is a JSON object; a login page of a proxy is 200 too, and is not."""
    return 200 <= reply.status < 300 and reply.body.lstrip().startswith(b"{")


def is_of_the_moment(reply: Reply) -> bool:
    """Whether the response says nothing about the form of the request."""
    return reply.status in _OF_THE_MOMENT


def describe(reply: Reply) -> str:
    """The response in words, for people."""
    if is_ours(reply):
        return "%d %s" % (reply.status, detail_of(reply))
    to = reply.headers.get("Location")
    where = " to %s" % to[:200] if to else ""
    return "%d%s, not from Forge but from something else at its address or in front of it" % (reply.status, where)


def control_of(reply: Reply) -> Optional[Dict[str, Any]]:
    """The platform's request to the run: from the body if present, otherwise from the header."""
    if b'"control"' in reply.body:
        control = _json(reply.body).get("control")
        if isinstance(control, dict) and isinstance(control.get("action"), str):
            return control
    header = reply.headers.get("Forge-Control")
    if header is None:
        return None
    action, *rest = [part.strip() for part in header.split(";")]
    named = dict(part.split("=", 1) for part in rest if "=" in part)
    return {"action": action, "reason": named.get("reason"), "deadline": named.get("deadline")}


def detail_of(reply: Reply) -> str:
    """Both forms of `detail` (specification "Errors") as one line."""
    detail = _json(reply.body).get("detail")
    if isinstance(detail, list):
        detail = "; ".join(_field_error(item) for item in detail[:3])
    return str(detail or "")[:500]


def _field_error(item: object) -> str:
    if not isinstance(item, dict):
        return str(item)
    return "%s: %s" % (".".join(map(str, item.get("loc", []))), item.get("msg", ""))


def _halves(request: Request) -> Tuple[Request, ...]:
    body = json.loads(request.body)
    points = body["points"]
    middle = len(points) // 2
    return tuple(_with_part(request, body, half) for half in (points[:middle], points[middle:]) if middle and half)


def _without_rejected(request: Request, reply: Reply) -> Tuple[Request, ...]:
    """Leaves out the refused items, so that one bad item does not cost the thousands around it."""
    errors = _json(reply.body).get("detail")
    part = PARTS.get(request.route)
    if part is None or not isinstance(errors, list):
        return ()
    rejected = {_item_of(error, part) for error in errors} - {None}
    body = json.loads(request.body)
    items = body[part]
    kept: Any = (
        {key: value for key, value in items.items() if key not in rejected}
        if isinstance(items, dict)
        else [item for index, item in enumerate(items) if index not in rejected]
    )
    return (_with_part(request, body, kept),) if kept and len(kept) < len(items) else ()


def _item_of(error: object, part: str) -> Any:
    """The key or the index of the item that the service refuses."""
    loc = error.get("loc") if isinstance(error, dict) else None
    if isinstance(loc, list) and len(loc) > 2 and loc[:2] == ["body", part] and isinstance(loc[2], (int, str)):
        return loc[2]
    return None


def _with_part(request: Request, body: Dict[str, Any], items: Any) -> Request:
    text = json.dumps({**body, PARTS[request.route]: items}, separators=(",", ":"))
    return Request(request.route, text.encode(), len(items))


def _json(body: bytes) -> Dict[str, Any]:
    try:
        parsed = json.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
