"""Logs a point of a live run with a product's own client, for each line of its input: `live.py forge|mlflow|trackio`.

A line is a step; prints the time just before the call, in milliseconds of the epoch.
"""

import os
import sys
import time


def forge_log():
    import forge

    return forge.init(monitor_hardware=False).log


def mlflow_log():
    import mlflow

    mlflow.set_tracking_uri(os.environ["BENCH_ADDRESS"])
    mlflow.start_run(run_id=os.environ["BENCH_RUN"], log_system_metrics=False)
    return lambda values, step: mlflow.log_metrics(values, step=step)


def trackio_log():
    import trackio

    run = trackio.init(
        project=os.environ["BENCH_PROJECT"],
        name=os.environ["BENCH_RUN"],
        resume="must",
        embed=False,
        auto_log_gpu=False,
        auto_log_cpu=False,
    )
    return lambda values, step: run.log(values, step=step)


stdout = os.dup(1)
os.dup2(2, 1)  # clients print greetings
log = {"forge": forge_log, "mlflow": mlflow_log, "trackio": trackio_log}[sys.argv[1]]()
os.write(stdout, b"ready\n")
for line in sys.stdin:
    step = int(line)
    began = time.time() * 1000
    log({"train/loss": 5.0 + step / 1000}, step=step)
    os.write(stdout, b"%.3f\n" % began)
