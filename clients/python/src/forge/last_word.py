"""The summary of its reports that a process prints when it ends."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from .spool import Amount


class LeftOut(NamedTuple):
    """Values that could not be reported, and why the last one could not."""

    count: int = 0
    why: str = ""


def last_word(
    url: Optional[str],
    left: Amount,
    lost: Amount,
    folder: str,
    why_left: str,
    why_lost: str,
    left_out: LeftOut = LeftOut(),
) -> str:
    """True in every case: everything arrived, some reports wait on disk, some never will arrive."""
    if left != Amount():
        because = " (%s)" % why_left if why_left else ""
        text = "%s kept in %s; send with `python3 -m forge sync`%s" % (in_words(left), folder, because)
    else:
        text = "all sent" if lost == Amount() else "the rest was sent"
    if lost != Amount():
        text = "%s not stored: %s; %s" % (in_words(lost), why_lost, text)
    if left_out.count:
        noun = "value" if left_out.count == 1 else "values"
        text = "%s %s not logged: %s; %s" % (format(left_out.count, ","), noun, left_out.why, text)
    return "forge: %s%s" % (text, "" if url is None else "  " + url)


def in_words(amount: Amount) -> str:
    parts = [(amount.points, "point"), (amount.reports, "other report")]
    words = ["%s %s%s" % (format(count, ","), noun, "" if count == 1 else "s") for count, noun in parts if count]
    return " and ".join(words)


def failure_text(kind: Any, error: Any) -> str:
    """An exception in words, even one that cannot be converted to text."""
    name = getattr(kind, "__name__", kind)
    try:
        return "%s: %s" % (name, error)
    except Exception:
        return str(name)
