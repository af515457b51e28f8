-- What only MLflow's clients tell of a run, behind runs/get and runs/search of the MLflow facade. Parameters, metrics and
-- artifacts are where those of all runs are.
create table mlflow_runs (
  run_id      text  not null primary key,
  tags        jsonb not null,
  status      text,            -- in MLflow's words; the run's own state is in runs
  end_time_ms bigint
);
create table mlflow_inputs (
  run_id  text    not null,
  name    text    not null,
  digest  text    not null,
  version integer not null,  -- of the event, in the stream of what MLflow's clients tell
  place   integer not null,  -- within the event
  input   jsonb   not null,
  primary key (run_id, name, digest)
);

create policy readable on mlflow_runs for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = mlflow_runs.run_id) then true end is not null);
alter table mlflow_runs enable row level security;
create policy readable on mlflow_inputs for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = mlflow_inputs.run_id) then true end is not null);
alter table mlflow_inputs enable row level security;
