"""One process of several that log into one run: `worker.py forge|trackio|mlflow RANK PROCESSES STEPS KEYS`.

Prints "ready" once its client can log, waits for a line on standard input, so that all begin together, and prints
`{"began", "returned", "ended", "slowest_us", "grown_mb"}`: seconds since the epoch of the first call, of the return of
the last one and of the end of sending; the 99th percentile of one call; and by how much its memory grew at most.
"""

import json
import os
import random
import sys
import time
from array import array

# More rows than any client joins in one request, so that none can profit from repetition.
_ROWS = 4099


def forge_client():
    import forge

    run = forge.init(rank_zero_only=False)
    return run.log, lambda: run.finish(timeout=float(os.environ.get("BENCH_FINISH_S", "600")))


def trackio_client():
    import trackio

    address = os.environ.get("BENCH_ADDRESS")
    run = trackio.init(
        project="bench",
        name=os.environ["BENCH_RUN"],
        resume="allow",
        embed=False,
        auto_log_gpu=False,
        auto_log_cpu=False,
        **({"server_url": address} if address else {}),
    )
    return lambda values, step: run.log(values, step=step), trackio.finish


def mlflow_client():
    import mlflow

    mlflow.set_tracking_uri(os.environ["BENCH_ADDRESS"])
    mlflow.start_run(run_id=os.environ["BENCH_RUN"])

    def finish():
        mlflow.flush_async_logging()
        mlflow.end_run()

    # As fast as possible: without waiting for the response to each call.
    return lambda values, step: mlflow.log_metrics(values, step=step, synchronous=False), finish


def peak_mb():
    """The peak of this process alone; `getrusage` starts from the parent's peak."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def main(kind, rank, processes, steps, keys):
    stdout = os.dup(1)
    os.dup2(2, 1)  # clients print greetings
    log, finish = {"forge": forge_client, "trackio": trackio_client, "mlflow": mlflow_client}[kind]()
    names = ["train/metric_%d" % key for key in range(keys)]
    rows = [{name: random.random() for name in names} for _ in range(_ROWS)]
    os.write(stdout, b"ready\n")
    sys.stdin.readline()
    before = peak_mb()
    took = array("d", bytes(8 * steps))
    began = time.time()
    for index in range(steps):
        at = time.perf_counter()
        log(rows[index % _ROWS], step=index * processes + rank)
        took[index] = time.perf_counter() - at
    returned = time.time()
    finish()
    ended = time.time()
    grown = peak_mb() - before
    slowest = sorted(took)[int(len(took) * 0.99)] * 1e6
    report = {"began": began, "returned": returned, "ended": ended, "slowest_us": slowest, "grown_mb": grown}
    os.write(stdout, json.dumps(report).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
