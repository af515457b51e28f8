"""What the service's response means for its request."""

from __future__ import annotations

import json
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .buffer import Request
from .transport import Reply

ACCEPTED = "accepted"
RETRY = "retry"  # send the same again, later
BLOCKED = "blocked"  # this token will never be accepted again (specification "Authentication"): keep everything on disk
REFUSED = "refused"  # it will never be accepted: drop it
REPLACED = "replaced"  # send these instead

_RETRIED = frozenset({408, 425, 429, 502, 503, 504})

# The request may have caused the server's error, so it must not block all later ones for ever.
_TRIES_ON_500 = 6

# Routes that older servers do not have, which is not an error.
_OPTIONAL_ROUTES = frozenset({"hardware", "environment", "environment/nodes"})
_NO_SUCH_ROUTE = frozenset({404, 405, 501})


class Verdict(NamedTuple):
    action: str
    detail: str = ""
    replacements: Tuple[Request, ...] = ()
    quiet: bool = False


def judge(request: Request, reply: Reply, tries: int) -> Verdict:
    """`tries` includes this one."""
    status = reply.status
    if 200 <= status < 300:
        return Verdict(ACCEPTED)
    detail = "%d %s" % (status, detail_of(reply))
    if status in _RETRIED or (status >= 500 and status != 501 and tries < _TRIES_ON_500):
        return Verdict(RETRY, detail)
    if status in (401, 403):
        return Verdict(BLOCKED, detail)
    if status in _NO_SUCH_ROUTE and request.route in _OPTIONAL_ROUTES:
        return Verdict(REFUSED, detail, quiet=True)
    if request.route == "metrics" and status in (413, 422):
        pieces = _halves(request) if status == 413 else _without_rejected(request, reply)
        return Verdict(REPLACED, detail, pieces) if pieces else Verdict(REFUSED, detail)
    return Verdict(REFUSED, detail)


def control_of(reply: Reply) -> Optional[Dict[str, Any]]:
    """What the platform asks of the run: from the body if it has that, else from the header."""
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
    return tuple(_with_points(body, half) for half in (points[:middle], points[middle:]) if middle and half)


def _without_rejected(request: Request, reply: Reply) -> Tuple[Request, ...]:
    """Leaves out the refused points, so that one bad point does not cost the thousands around it."""
    errors = _json(reply.body).get("detail")
    rejected = {_point_index(item) for item in errors} if isinstance(errors, list) else set()
    rejected.discard(None)
    body = json.loads(request.body)
    kept = [point for index, point in enumerate(body["points"]) if index not in rejected]
    return (_with_points(body, kept),) if kept and rejected else ()


def _point_index(item: object) -> Optional[int]:
    loc = item.get("loc") if isinstance(item, dict) else None
    if isinstance(loc, list) and len(loc) > 2 and loc[:2] == ["body", "points"] and isinstance(loc[2], int):
        return loc[2]
    return None


def _with_points(body: Dict[str, Any], points: List[Dict[str, Any]]) -> Request:
    text = json.dumps({**body, "points": points}, separators=(",", ":"))
    return Request("metrics", text.encode(), len(points))


def _json(body: bytes) -> Dict[str, Any]:
    try:
        parsed = json.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
