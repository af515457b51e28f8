"""Fills another product with the runs that `data.ts` makes: `fill_peers.py mlflow|trackio DATA PLACE`.

By the product's own code: in this process, because hundreds of thousands of points take too long through its client. PLACE is
the folder of Trackio, or the address of MLflow's server, whose database is in DATABASE.
"""

import json
import os
import sys
import tempfile
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path

product, data, place = sys.argv[1:]
samples = json.loads(Path(data).read_text())
now = datetime.now(timezone.utc)


def created(nth):
    """Runs of the past hours, in order; the last one has just begun."""
    return now - timedelta(seconds=20 * (len(samples) - 1 - nth))


def rows(sample):
    keys = list(sample["values"])
    return [dict(zip(keys, values)) for values in zip(*sample["values"].values())]


def write(folder, name, text):
    path = Path(folder) / name
    path.write_text(text)
    return str(path)


def fill_trackio():
    os.environ["TRACKIO_DIR"] = place
    from trackio.sqlite_storage import SQLiteStorage

    live = None
    for nth, sample in enumerate(samples):
        project, run, at = sample["project"], sample["name"], created(nth)
        config = {
            **sample["hparams"],
            "_Username": "person",
            "_Created": at.isoformat(),
            # Its only way to group runs.
            "_Group": f"seed {sample['hparams']['seed']}",
        }
        points = rows(sample)
        run_id = uuid.uuid4().hex
        stamps = [(at + timedelta(milliseconds=step)).isoformat() for step in range(len(points))]
        SQLiteStorage.bulk_log(project, run, points, timestamps=stamps, config=config, run_id=run_id)
        if sample["end"] == "failed":
            # It has no logs; a program can raise an alert with the end of its output.
            text = "\n".join(sample["lines"][-5:])
            SQLiteStorage.bulk_alert(project, run, [sample["lines"][-1]], [text], ["error"], [len(points)], run_id=run_id)
        live = run_id
    import trackio

    best = next(sample for sample in samples if sample["name"] == sample["best"])
    with tempfile.TemporaryDirectory() as folder:
        run = trackio.init(
            project=best["project"], name=best["name"], resume="must", embed=False, auto_log_gpu=False, auto_log_cpu=False
        )
        run.log_artifact(write(folder, "last.safetensors", "weights"), name="checkpoint", type="model")
        run.finish()
    return live


def fill_mlflow():
    import mlflow
    from mlflow.entities import Metric, Param, RunStatus, RunTag
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    mlflow.set_tracking_uri(place)
    store = SqlAlchemyStore(os.environ["DATABASE"], tempfile.mkdtemp())
    live, experiments = None, {}
    with tempfile.TemporaryDirectory() as folder:
        for nth, sample in enumerate(samples):
            name, at = sample["project"], int(created(nth).timestamp() * 1000)
            if name not in experiments:
                experiments[name] = mlflow.create_experiment(name)
            tags = [RunTag(tag, "true") for tag in sample["tags"]] + [RunTag("mlflow.runName", sample["name"])]
            run = store.create_run(experiments[name], "person", at, tags, sample["name"])
            run_id = run.info.run_id
            points = rows(sample)
            metrics = [Metric(key, value, at + step, step) for step, values in enumerate(points) for key, value in values.items()]
            store.log_batch(run_id, [], [Param(key, str(value)) for key, value in sample["hparams"].items()], [])
            for first in range(0, len(metrics), 1000):
                store.log_batch(run_id, metrics[first : first + 1000], [], [])
            if sample["lines"]:
                # It has no logs; a program can keep its output as a file.
                path = write(folder, "output.log", "\n".join(sample["lines"]) + "\n")
                mlflow.MlflowClient().log_artifact(run_id, path)
            if sample["name"] == sample["best"]:
                with mlflow.start_run(run_id=run_id):
                    mlflow.pyfunc.log_model(name="checkpoint", python_model=lambda model_input: model_input, pip_requirements=[])
            if sample["end"] is not None:
                status = RunStatus.FINISHED if sample["end"] == "succeeded" else RunStatus.FAILED
                store.update_run_info(run_id, status, at + 15_000, sample["name"])
            live = run_id
    mlflow.MlflowClient().create_registered_model("classifier")
    return live


print(json.dumps({"live": {"mlflow": fill_mlflow, "trackio": fill_trackio}[product]()}))
