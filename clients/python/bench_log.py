"""The cost of reporting to the training loop.

    python3 bench_log.py            against a sink in a separate process that responds at once and keeps nothing
    SERVICE_ENABLED=1 … python3 bench_log.py      against a server, with the four variables of a run

Prints: import time; latency of `log` (16 keys) in a loop that also computes; points a second that `log` accepts from
4 processes of 10 keys, and how many of them had arrived when each process ended.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import socketserver
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "src"))

KEYS_A_STEP = 16
PROCESSES = 4
KEYS_OF_A_PROCESS = 10


class Sink(socketserver.StreamRequestHandler):
    """Reads requests by their length and sends the same response to all."""

    disable_nagle_algorithm = True
    rbufsize = 1 << 20

    def handle(self) -> None:
        answer = b'{"ok":true,"inserted":0}'
        while self.rfile.readline():
            length = 0
            for line in iter(self.rfile.readline, b"\r\n"):
                if not line:
                    return
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            self.rfile.read(length)
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))


class SinkServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


def serve_sink(ready: "multiprocessing.Queue[int]") -> None:
    with SinkServer(("127.0.0.1", 0), Sink) as server:
        ready.put(server.server_address[1])
        server.serve_forever()


def import_ms() -> float:
    """The fastest of several: the cost of the import, without other load on the machine."""
    script = "import time; t = time.perf_counter(); import forge; print((time.perf_counter() - t) * 1000)"
    env = {**os.environ, "PYTHONPATH": sys.path[0]}
    return min(float(subprocess.check_output([sys.executable, "-c", script], env=env)) for _ in range(7))


def latency_us(steps: int, busy_us: float) -> dict:
    """`busy_us` of computing between calls, holding the interpreter lock as training code written in Python does."""
    import forge

    forge.init(monitor_hardware=False)
    names = ["train/metric_%d" % index for index in range(KEYS_A_STEP)]
    clock = time.perf_counter
    taken = []
    for step in range(steps):
        values = {name: step * 0.37 + index for index, name in enumerate(names)}
        until = clock() + busy_us / 1e6
        while clock() < until:
            pass
        start = clock()
        forge.log(values, step)
        taken.append((clock() - start) * 1e6)
    forge.finish()
    taken.sort()
    at = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
    return {**{name: round(taken[int(len(taken) * share)], 1) for name, share in at.items()}, "max": round(taken[-1], 1)}


def log_many(steps: int, barrier: object, results: "multiprocessing.Queue[tuple]") -> None:
    import forge

    run = forge.init(monitor_hardware=False)
    names = ["train/metric_%d" % index for index in range(KEYS_OF_A_PROCESS)]
    barrier.wait()  # type: ignore[attr-defined]
    begun = time.perf_counter()
    for step in range(steps):
        run.log({name: step * 0.37 for name in names}, step)
    returned = time.perf_counter()
    arrived = run.flush(60)
    results.put((begun, returned, time.perf_counter(), arrived, run._buffer.refused))
    run.close(10)


def throughput(points: int) -> dict:
    steps = points // (PROCESSES * KEYS_OF_A_PROCESS)
    total = steps * PROCESSES * KEYS_OF_A_PROCESS
    barrier, results = multiprocessing.Barrier(PROCESSES), multiprocessing.Queue()
    processes = [multiprocessing.Process(target=log_many, args=(steps, barrier, results)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    outcomes = [results.get() for _ in processes]
    for process in processes:
        process.join()
    begun = min(outcome[0] for outcome in outcomes)
    return {
        "points": total,
        "returned_per_s": round(total / (max(outcome[1] for outcome in outcomes) - begun)),
        "delivered_per_s": round(total / (max(outcome[2] for outcome in outcomes) - begun)),
        "all_delivered": all(outcome[3] for outcome in outcomes),
        "refused": sum(outcome[4] for outcome in outcomes),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000, help="calls whose latency is measured")
    parser.add_argument("--busy-us", type=float, default=200, help="computing between those calls")
    parser.add_argument("--points", type=int, default=2_000_000, help="points of the throughput run")
    options = parser.parse_args()
    multiprocessing.set_start_method("spawn")
    sink = None
    if os.environ.get("SERVICE_ENABLED") != "1":
        ready: "multiprocessing.Queue[int]" = multiprocessing.Queue()
        sink = multiprocessing.Process(target=serve_sink, args=(ready,), daemon=True)
        sink.start()
        os.environ.update(
            SERVICE_ENABLED="1",
            SERVICE_ENDPOINT="http://127.0.0.1:%d/api/ingest" % ready.get(),
            SERVICE_RUN_ID="run_bench",
            SERVICE_TOKEN="fit_bench",
        )
    with tempfile.TemporaryDirectory() as spool:
        os.environ["FORGE_SPOOL_DIR"] = spool
        figures = {
            "server": "sink" if sink else os.environ["SERVICE_ENDPOINT"],
            "import_ms": round(import_ms(), 1),
            "log_us": latency_us(options.steps, options.busy_us),
            "log_us_tight_loop": latency_us(options.steps, 0),
            "throughput": [throughput(options.points) for _ in range(3)],
        }
    print(json.dumps(figures, indent=2))
    if sink:
        sink.terminate()


if __name__ == "__main__":
    main()
