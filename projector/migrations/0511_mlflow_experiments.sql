-- What MLflow calls tags of an experiment, which is a project.
create table mlflow_experiments (
  project text  not null primary key,
  tags    jsonb not null
);
create policy readable on mlflow_experiments for select using (project in (select readable_projects()));
alter table mlflow_experiments enable row level security;
