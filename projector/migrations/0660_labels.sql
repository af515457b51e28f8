-- Labels of runs, from JobSpecs and from MLflow's tags: those whose names do not begin with "mlflow.".
create table run_labels (
  run_id text not null,
  key    text not null,
  value  text not null,
  of_job text,           -- the value in the JobSpec, which counts again once MLflow's tag is deleted
  primary key (run_id, key)
);
insert into run_labels (run_id, key, value, of_job)
select coalesce(j.run_id, m.run_id), coalesce(j.key, m.key), coalesce(m.value, j.value), j.value
  from (select run_id, l.key, l.value from jobs, jsonb_each_text(spec #> '{metadata,labels}') l) j
  full join (select run_id, t.key, t.value from mlflow_runs, jsonb_each_text(tags) t
              where t.key not like 'mlflow.%') m using (run_id, key);
-- No search is longer than this (searchLimits.text), so equal beginnings are equal values.
create index run_label_values on run_labels (key, left(value, 256), run_id);

create policy readable on run_labels for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = run_labels.run_id) then true end is not null);
alter table run_labels enable row level security;

-- As hparams_of_runs, for searches over many runs.
create view labels_of_runs as
  select l.* from run_labels l join readable_runs using (run_id);

-- The notes that MLflow's clients wrote about runs (mlflow.note.content), if not empty.
create table run_notes (run_id text not null primary key, notes text not null);
insert into run_notes
select run_id, tags ->> 'mlflow.note.content' from mlflow_runs where tags ->> 'mlflow.note.content' <> '';
create policy readable on run_notes for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = run_notes.run_id) then true end is not null);
alter table run_notes enable row level security;
