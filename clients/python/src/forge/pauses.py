"""How long to wait before the next attempt."""

from __future__ import annotations

from typing import Optional

from .transport import Reply, retry_after_s

RETRY_FIRST_S = 0.5
RETRY_MOST_S = 30.0

# While somebody waits, a restarting server is tried more than once within the remaining time.
IN_A_HURRY_S = 1.0


def backoff_s(failures: int) -> float:
    """Full jitter, so that the clients of a cluster do not all return at once."""
    return _jitter(min(RETRY_MOST_S, RETRY_FIRST_S * 2 ** min(failures, 10)))


def asked_s(reply: Reply) -> Optional[float]:
    """The pause that the response asks for, if any."""
    seconds = retry_after_s(reply.headers)
    return None if seconds is None else min(seconds, RETRY_MOST_S) + _jitter(RETRY_FIRST_S)


def _jitter(most_s: float) -> float:
    import random  # loaded on the first failure; it costs 3 ms

    return random.uniform(0, most_s)
