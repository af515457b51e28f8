"""The training code of python.test.ts: logs in phases, each ended by a line on standard input.

`report.py PLAN`, the plan as JSON: `{"phases": [{"steps": 100, "from": 0, "value": 1.0, "after": "flush"}], "end": …}`.
A phase without `steps` logs until the line comes. `after`: `flush`, `spool` (wait until all of it lies on
disk) or nothing. `end`: `finish`, `vanish` (end as a kill would), `raise`. Prints `phase N STEPS` after each.
"""

import json
import os
import sys
import threading
import time

import forge

KEYS = ("train/loss", "train/accuracy", "lr")


def main():
    plan = json.loads(sys.argv[1])
    run = forge.init({"lr": 0.1, "model": {"depth": 4}}, monitor_hardware=False)
    for number, phase in enumerate(plan["phases"]):
        steps = log_phase(run, phase)
        settle(run, phase.get("after"), phase.get("steps", 0) * len(KEYS))
        print("phase", number, steps, flush=True)
        if "steps" in phase and phase.get("wait", True):
            sys.stdin.readline()
    leave(run, plan)


def log_phase(run, phase):
    step = phase.get("from", 0)
    told = threading.Event()
    if "steps" not in phase:
        threading.Thread(target=lambda: (sys.stdin.readline(), told.set()), daemon=True).start()
    while not told.is_set() and step - phase.get("from", 0) < phase.get("steps", 10**9):
        run.log({key: phase["value"] + step for key in KEYS}, step)
        step += 1
        if "steps" not in phase:
            time.sleep(0.001)
    return step


def settle(run, after, points):
    if after == "flush" and not run.flush(30):
        sys.exit("not flushed")
    while after == "spool" and spooled_points() < points:
        time.sleep(0.01)


def spooled_points():
    points = 0
    for folder, _, names in os.walk(os.environ["FORGE_SPOOL_DIR"]):
        for name in names:
            if name.endswith(".jsonl"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    reports = [json.loads(line) for line in file]
                points += sum(report["points"] for report in reports if report["route"] == "metrics")
    return points


def leave(run, plan):
    if plan["end"] == "vanish":
        os._exit(9)
    if plan["end"] == "raise":
        raise RuntimeError("out of memory, for example")
    run.finish(timeout=plan.get("timeout", 30))


main()
