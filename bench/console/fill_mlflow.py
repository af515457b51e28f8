"""Fills MLflow's SQLite file with the runs that `bench/console/forge.ts` gives Forge, and prints their ids as JSON.

Rows as its server writes them: sending them takes hours.
"""

import json
import random
import sqlite3
import sys
import uuid

path, listed = sys.argv[1], int(sys.argv[2])
db = sqlite3.connect(path)
db.execute("pragma synchronous = off")
columns = {table: [row[1] for row in db.execute(f"pragma table_info({table})")] for table in ("runs", "experiments")}


def insert(table, rows, names):
    marks = ", ".join("?" for _ in names)
    db.executemany(f"insert into {table} ({', '.join(names)}) values ({marks})", rows)


def experiment(name):
    known = {"name": name, "artifact_location": f"/{name}", "lifecycle_stage": "active", "creation_time": 0,
             "last_update_time": 0, "workspace": "default"}
    names = [one for one in known if one in columns["experiments"]]
    return db.execute(
        f"insert into experiments ({', '.join(names)}) values ({', '.join('?' for _ in names)}) returning experiment_id",
        [known[one] for one in names],
    ).fetchone()[0]


def runs(experiment_id, names):
    ids = [uuid.uuid4().hex for _ in names]
    start = 1_767_225_600_000
    rows = [
        (run, name, "UNKNOWN", "", "", "person", "FINISHED", start + n * 60_000, start + (n + 30) * 60_000, "",
         "active", f"/{run}", experiment_id)
        for n, (run, name) in enumerate(zip(ids, names))
    ]
    insert("runs", rows, ("run_uuid", "name", "source_type", "source_name", "entry_point_name", "user_id", "status",
                          "start_time", "end_time", "source_version", "lifecycle_stage", "artifact_uri", "experiment_id"))
    insert("tags", [("mlflow.runName", name, run) for run, name in zip(ids, names)], ("key", "value", "run_uuid"))
    return ids


def loss(step):
    return 2 / (step + 1) ** 0.5 + random.random() * 0.1


def metrics(run, keys, steps):
    names = ("key", "value", "timestamp", "run_uuid", "step", "is_nan")
    for key in keys:
        rows = [(key, loss(step), 1_790_000_000_000 + step * 173, run, step, 0) for step in range(steps)]
        insert("metrics", rows, names)
        insert("latest_metrics", rows[-1:], names)


curves, large, long_list = experiment("curves"), experiment("large"), experiment("list")
keys = [f"loss_of_part/{letter}" for letter in "abcdefghijklmnopqrst"]
compared = runs(curves, [f"curves {n}" for n in range(10)])
for run in compared:
    metrics(run, keys, 10_000)
(big,) = runs(large, ["large"])
metrics(big, ["train/loss"], 200_000)
many = runs(long_list, [f"seeded {n}" for n in range(listed)])
hparams = [(key, value, run) for n, run in enumerate(many)
           for key, value in (("lr", str(n % 1000 * 1e-4)), ("opt", "adam"), ("seed", str(n)), ("depth", str(n % 32)))]
insert("params", hparams, ("key", "value", "run_uuid"))
last = [(key, random.random(), 1_790_000_000_000, run, 100, 0) for run in many[: listed // 10]
        for key in ("val/accuracy", "val/loss", "train/loss", "lr")]
insert("latest_metrics", last, ("key", "value", "timestamp", "run_uuid", "step", "is_nan"))
insert("metrics", last, ("key", "value", "timestamp", "run_uuid", "step", "is_nan"))
db.commit()
db.execute("analyze")
db.commit()
print(json.dumps({"experiments": {"curves": str(curves), "large": str(large), "list": str(long_list)},
                  "compared": compared, "large": big}))
