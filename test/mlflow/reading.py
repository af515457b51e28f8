"""Batches, artifacts, data sets, and reading back; the run comes from the environment."""

import os
import tempfile

import mlflow
from mlflow.entities import Metric, Param, RunTag

client = mlflow.MlflowClient()
run = mlflow.start_run()
run_id = run.info.run_id
client.log_batch(
    run_id,
    metrics=[Metric("loss", 1 / (at + 1), 1795170180000 + at, at) for at in range(1000)],
)
client.log_batch(run_id, params=[Param(f"p{at}", str(at)) for at in range(100)], tags=[RunTag("kind", "big")])

with tempfile.TemporaryDirectory() as folder:
    os.makedirs(os.path.join(folder, "plots/deep"))
    for name, text in (("readme.txt", "hello"), ("plots/a b.txt", "aé"), ("empty.txt", ""), ("plots/deep/c.txt", "c" * 100_000)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    mlflow.log_artifacts(folder, "out")
mlflow.log_text("one", "note.txt")
mlflow.log_text("two", "note.txt")
mlflow.log_dict({"a": 1}, "config.json")
mlflow.end_run()

print("root", [(one.path, one.is_dir) for one in client.list_artifacts(run_id)])
print("out", [(one.path, one.is_dir, one.file_size) for one in client.list_artifacts(run_id, "out/plots")])
print("note", mlflow.artifacts.load_text(f"runs:/{run_id}/note.txt"))
with tempfile.TemporaryDirectory() as folder:
    there = client.download_artifacts(run_id, "out", folder)
    found = sorted(os.path.relpath(os.path.join(at, name), there) for at, _, names in os.walk(there) for name in names)
    with open(os.path.join(there, "plots/a b.txt"), encoding="utf-8") as file:
        print("downloaded", found, file.read())

found = mlflow.search_runs(search_all_experiments=True, output_format="list")
print("own", [one.info.run_id == run_id for one in found], found[0].data.params["p7"])
with mlflow.start_run(nested=True) as other:
    print("other", other.info.run_id == run_id)
