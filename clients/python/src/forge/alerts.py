"""Alerts that training code raises. `alert` is a method of `Run`."""

from __future__ import annotations

import os
from typing import Any, Dict

LEVELS = ("info", "warn", "error")

# The service accepts no more (docs/use/alerts.md).
TITLE_CHARS = 200
TEXT_CHARS = 10_000


def alert(self: Any, title: str, level: str = "warn", text: str = "") -> None:
    """Alerts the owner of the run: `forge.alert("Reward collapsed", text="0.6 to 0.1 within 20 steps")`.

    title  the first 200 characters
    level  `info`, `warn` or `error`
    text   the first 10,000 characters

    It is sent with everything else, and appears in the notifications and on the page of the run. The service takes
    30 an hour; further ones are dropped with a warning.
    """
    if not self._speaks or self._ended:
        return self._say_ended()
    try:
        self._post_soon("alert", alert_report(title, level, text))
    except Exception as error:
        self._refuse("alert not raised", [str(error)])


def alert_report(title: Any, level: str, text: Any) -> Dict[str, Any]:
    """The id identifies a repeated report, sent because its response was lost, as the same one."""
    at = str(level).lower()
    at = "warn" if at == "warning" else at  # as `logging` has it
    if at not in LEVELS:
        raise ValueError("level must be 'info', 'warn' or 'error', not %r" % (level,))
    named = "" if title is None else _plain(title, TITLE_CHARS)
    if not named.strip():
        raise ValueError("an alert needs a title")
    said = "" if text is None else _plain(text, TEXT_CHARS)
    return {"title": named, "level": at, "text": said, "report_id": os.urandom(16).hex()}


def _plain(text: Any, most: int) -> str:
    """The service accepts no NUL, and JSON no half of a surrogate pair."""
    return str(text).replace("\0", "").encode("utf-8", "replace").decode()[:most]
