"""An independently written calculator of bills: runs as JSON lines, the total of each in millionths."""

import json
import sys
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_EVEN, Decimal, getcontext

getcontext().prec = 60
HOUR = Decimal(3_600_000)


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)


def milliseconds(span):
    return span // timedelta(milliseconds=1)


def price_at(prices, at):
    return [price for since, price in prices if since <= at][-1]


def bill(run):
    prices = sorted((instant(since), Decimal(price)) for since, price in run["prices"])
    total, gpu_ms = Decimal(0), 0
    for start, end in run["attempts"]:
        at, end = instant(start), instant(end)
        while at < end:
            tomorrow = at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
            until = min([end, tomorrow] + [since for since, _ in prices if since > at])
            used = run["gpus"] * milliseconds(until - at)
            gpu_ms += used
            exact = Decimal(used) * price_at(prices, at) * 1_000_000 / HOUR
            total += exact.quantize(Decimal(1), rounding=ROUND_HALF_EVEN)
            at = until
    return f"{gpu_ms} {int(total)}"


for line in sys.stdin:
    print(bill(json.loads(line)))
