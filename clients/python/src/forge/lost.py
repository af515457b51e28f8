"""Counts the reports that will never arrive, and says why."""

from __future__ import annotations

from typing import NamedTuple

from .points import Request
from .notices import Notices
from .spool import Amount


class Lost(NamedTuple):
    """The reports that will never arrive, and why the last one will not."""

    amount: Amount = Amount()
    why: str = ""


class Losses:
    def __init__(self, notices: Notices):
        self._notices = notices
        self.so_far = Lost()
        self._unreadable = 0

    def refused(self, request: Request, why: str) -> None:
        self._count(request, why)
        self._notices.report("%s refused by the service" % _noun(request), request.points, why)

    def lose(self, request: Request, why: str) -> None:
        self._count(request, why)
        self._notices.report("%s lost" % _noun(request), request.points, why)

    def unreadable(self, lines: int) -> None:
        """Lost from the spool, so far."""
        count, self._unreadable = lines - self._unreadable, lines
        if count:
            why = "the spool holds lines that are damaged or of another version of the client"
            amount = self.so_far.amount
            self.so_far = Lost(amount._replace(reports=amount.reports + count), why)
            self._notices.report("reports lost", count, why)

    def left_out(self, why: str, count: int) -> None:
        """Points that cannot be sent."""
        self._count(Request("metrics", b"", count), why)
        self._notices.report("points dropped", count, why)

    def _count(self, request: Request, why: str) -> None:
        self.so_far = Lost(self.so_far.amount.plus(request), why)


def _noun(request: Request) -> str:
    return "points" if request.route == "metrics" else "reports to %s" % request.route
