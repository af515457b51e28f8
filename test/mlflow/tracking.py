"""An unmodified script with MLflow's fluent API, with only the environment of its run."""

import math

import mlflow

mlflow.set_experiment("an experiment of my own")
with mlflow.start_run(run_name="first try", tags={"team": "vision"}) as run:
    mlflow.log_params({"lr": 0.001, "optimizer": "adam"})
    mlflow.log_param("optimizer", "adam")
    for step in range(5):
        mlflow.log_metric("loss", 1 / (step + 1), step=step)
    mlflow.log_metrics({"acc": 0.75, "odd": math.nan, "far": -math.inf}, step=4)
    mlflow.set_experiment_tag("area", "photos")
    mlflow.set_tag("note", "x")
    mlflow.set_tag("gone", "y")
    mlflow.delete_tag("gone")
    try:
        mlflow.log_param("lr", 0.1)
    except mlflow.exceptions.MlflowException as refused:
        print("refused", refused.error_code, "Changing param values is not allowed" in str(refused))
    print("run", run.info.run_id)

client = mlflow.MlflowClient()
again = client.get_run(run.info.run_id)
print("metrics", again.data.metrics["loss"], again.data.metrics["acc"])
print("read", sorted(again.data.params.items()), again.data.tags["team"], again.info.run_name, again.info.status)
print("tags", "gone" in again.data.tags, again.data.tags["note"], again.data.tags["experiment.area"])
