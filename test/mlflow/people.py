"""A person's use of MLflow's client with an access token: their own runs, searched and read back."""

import mlflow

client = mlflow.MlflowClient()
mlflow.set_experiment("vision")
runs = []
for lr in (0.1, 0.01, 0.001):
    with mlflow.start_run(run_name=f"lr {lr}", tags={"team": "a'b"}) as run:
        mlflow.log_param("lr", lr)
        mlflow.log_metric("val/loss", lr * 2, step=1)
        mlflow.log_metric("val/loss", lr, step=2)
        runs.append(run.info.run_id)


def names(**search):
    return [one.info.run_name for one in mlflow.search_runs(["vision"], output_format="list", **search)]


print("all", sorted(names()))
print("metric", names(filter_string="metrics.`val/loss` < 0.05", order_by=["metrics.`val/loss` DESC"]))
print("param", names(filter_string="params.lr = '0.1' AND attributes.status = 'FINISHED'"))
print("tag", names(filter_string="tags.team LIKE 'a%' and run_name = 'lr 0.01'"))
print("none", names(filter_string="tags.team = 'b'"))
print("top", names(order_by=["params.lr ASC"], max_results=1))
history = client.get_metric_history(runs[0], "val/loss")
print("history", [(point.step, point.value) for point in history])
with mlflow.start_run(run_id=runs[0]) as again:
    mlflow.log_metric("later", 1.0)
    print("again", again.info.run_id == runs[0])
for what in (
    lambda: mlflow.search_runs(["vision"], filter_string="metrics.a < 1 OR metrics.b < 1", output_format="list"),
    lambda: client.get_run("run_nobody"),
    lambda: client.create_experiment("vision"),
    lambda: client.create_run("0"),
):
    try:
        what()
    except mlflow.exceptions.MlflowException as refused:
        print("refused", refused.error_code)
mlflow.set_experiment_tag("area", "photos")
print("area", client.get_experiment_by_name("vision").tags)
print("experiments", sorted(one.name for one in client.search_experiments()))

for _ in range(2):
    named = mlflow.set_experiment("My experiment 1")
    with mlflow.start_run(run_name="named"):
        mlflow.log_metric("loss", 1.0)
print("named", named.experiment_id, named.name, client.get_experiment("my-experiment-1").name)
print("found", len(mlflow.search_runs(experiment_names=["My experiment 1"], output_format="list")))
print("searched", [one.experiment_id for one in client.search_experiments(filter_string="name = 'My experiment 1'")])
chinese = mlflow.set_experiment("\u5b9e\u9a8c \u4e00")
print("chinese", chinese.experiment_id, chinese.name == "\u5b9e\u9a8c \u4e00", client.get_experiment_by_name("\u5b9e\u9a8c \u4e8c"))
try:
    mlflow.set_experiment("my EXPERIMENT 1")
except mlflow.exceptions.MlflowException as refused:
    print("refused", refused.error_code, refused.message)
