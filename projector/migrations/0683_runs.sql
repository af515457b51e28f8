-- Read model behind /api/runs: every run, of a job or external. Disposable: drop, recreate, replay.
create table runs (
  run_id         text        primary key,
  short_id       text        not null unique,
  name           text,
  project        text        not null,
  owner          text        not null,
  team           text,
  source         text        not null,
  state          text        not null,
  created_at     timestamptz not null,
  started_at     timestamptz,
  ended_at       timestamptz,
  tags           text[]      not null,
  notes          text        not null,
  starred        boolean     not null,
  archived       boolean     not null,
  recipe_name    text,
  recipe_version text,
  init_from      text[]      not null,
  datasets       text[]      not null,
  -- What `best` is by: the key of a metric and whether more or less of it is better.
  best_key       text,
  best_goal      text,
  -- For `?q=`, lower case: name, ids, tags.
  search         text        not null,
  -- Which run a job repeats or was copied from, by its labels.
  retry_of       text,
  clone_of       text,
  -- Deleted runs stay until they can no longer be restored. Neither single reads (findRun) nor lists show them.
  deleted_at     timestamptz,
  -- Why a deleted run stays although it can no longer be restored: the number of jobs that refer to it.
  kept_for       integer     not null default 0
) with (fillfactor = 80);
create index runs_newest on runs (created_at desc, run_id desc);
create index runs_of_project on runs (project, created_at desc, run_id desc);
create index runs_of_owner on runs (owner, created_at desc, run_id desc);
create index runs_in_state on runs (state, created_at desc, run_id desc);
create index runs_tagged on runs using gin (tags);
create index runs_begun_from on runs using gin (init_from);
create index runs_repeating on runs (retry_of) where retry_of is not null;
create index runs_copied on runs (clone_of) where clone_of is not null;
create index runs_deleted on runs (run_id) where deleted_at is not null;

select readable_with_project('runs');

-- The runs of a request, if their reader may read them.
create function asked_runs() returns text[] language sql stable security definer
begin atomic
  select array(
    select run_id from runs
     where run_id = any (string_to_array(nullif(current_setting('forge.runs', true), ''), ','))
       and (current_setting('forge.shared', true) = 'on'
            or owner = caller() or project in (select readable_projects())));
end;

-- Lists of runs read through this, which has the policy's condition in itself: under a policy PostgreSQL uses no index whose
-- operator might leak (tags, what runs began from), and would judge a run again for each of its metrics.
create view readable_runs as
  select * from runs
   where deleted_at is null
     and case when (select reads_all('runs'::regclass))
                or owner = (select caller()) or project in (select readable_projects()) then true end is not null;

-- How each run ended: what its code reported, and what was seen of its process. Separate from `runs`, whose rows lists read:
-- a message has up to 6,000 characters.
create table run_ends (
  run_id     text primary key,
  end_reason text,
  exit_code  integer,
  signal     text,
  message    text
);

-- Every change of state, numbered in log order: what /api/stream shows, and resumes from.
create table state_changes (
  change       bigint      primary key,
  run_id       text        not null,
  project      text        not null,
  owner        text        not null,
  from_state   text,
  state        text        not null,
  state_reason text,
  actor        text        not null,
  event_id     uuid        not null,
  at           timestamptz not null
);
create index state_changes_of_run on state_changes (run_id, change);

select readable_where('run_id = any ((select asked_runs())::text[])
                       or owner = (select caller()) or project in (select readable_projects())', 'state_changes');

-- Purged runs may have the newest state changes, whose numbers must not be given again.
create table last_change (change bigint not null);
insert into last_change values (0);

-- Nobody owns this number; it reveals how many changes there are, and nothing else about them.
create function newest_change() returns bigint language sql stable security definer
begin atomic
  select change from last_change;
end;

create table run_hparams (
  run_id text  primary key,
  params jsonb not null
);

-- Each change of a hyperparameter that was set before.
create table run_hparam_changes (
  run_id  text        not null,
  version integer     not null,  -- of the event, in the stream of the run's hyperparameters
  place   integer     not null,  -- within the event
  key     text        not null,
  "from"  jsonb       not null,
  "to"    jsonb       not null,
  at      timestamptz not null,
  primary key (run_id, version, place)
);

-- What searches compare of hyperparameters (hparams.lr>=1e-5), one row for each, with an index for either way to compare. Longer
-- texts are cut: no search is as long (searchLimits.text).
create table run_hparam_values (
  run_id text             not null,
  key    text             not null,
  text   text             not null,  -- "null" for null
  number double precision,           -- also of a number reported as text, as argparse and MLflow do
  primary key (run_id, key)
);
create index run_hparam_numbers on run_hparam_values (key, number, run_id) where number is not null;
create index run_hparam_texts on run_hparam_values (key, text, run_id);

-- A search looks at many runs, which the policy would judge one by one.
create view hparams_of_runs as
  select v.* from run_hparam_values v join readable_runs using (run_id);

-- Labels of runs, from JobSpecs and from MLflow's tags: those whose names do not begin with "mlflow.".
create table run_labels (
  run_id text not null,
  key    text not null,
  value  text not null,
  of_job text,           -- the value in the JobSpec, which counts again once MLflow's tag is deleted
  primary key (run_id, key)
);
-- No search is longer than this (searchLimits.text), so equal beginnings are equal values.
create index run_label_values on run_labels (key, left(value, 256), run_id);

create view labels_of_runs as
  select l.* from run_labels l join readable_runs using (run_id);

-- The notes that MLflow's clients wrote about runs (mlflow.note.content), if not empty.
create table run_notes (
  run_id text not null primary key,
  notes  text not null
);

-- What only MLflow's clients report about a run, for runs/get and runs/search of the MLflow facade. Parameters, metrics and
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
  version integer not null,  -- of the event, in the stream of what MLflow's clients report
  place   integer not null,  -- within the event
  input   jsonb   not null,
  primary key (run_id, name, digest)
);

-- What MLflow calls tags of an experiment, which is a project.
create table mlflow_experiments (
  project text  not null primary key,
  tags    jsonb not null
);
select readable_if('project in (select readable_projects())', 'mlflow_experiments');

-- Read model behind /api/runs/{run_id}/benchmarks: every result that was ever recorded. The newest revision of a result counts,
-- the others are its history.
create table run_benchmarks (
  run_id      text        not null,
  result_id   text        not null,
  revision    integer     not null,  -- of the event, in the stream of the run's benchmarks
  benchmark   text        not null,
  recorded_at timestamptz not null,
  result      jsonb       not null,
  primary key (run_id, result_id, revision)
);

-- Read models behind /api/runs/{run_id}/environment: what each run runs on and with. Runs of one image and machine share a
-- picture, so it is stored once.
create table environments (
  digest  text  primary key,
  picture jsonb not null
);

create table run_environments (
  run_id      text        primary key,
  digest      text        not null,
  captured_at timestamptz not null
);
create index run_environments_by_digest on run_environments (digest);

create table run_nodes (
  run_id      text        not null,
  node        text        not null,
  facts       jsonb       not null,
  reported_at timestamptz not null,
  primary key (run_id, node)
);

-- Whoever may read one of its runs.
select readable_where('(select true from run_environments e where e.digest = environments.digest limit 1)', 'environments');

-- Read model behind /api/runs/{run_id}/alerts. Disposable: drop, recreate, replay.
create table alerts (
  alert_id    text        primary key,
  run_id      text        not null,
  attempt     integer,
  rule        text        not null,
  source      text        not null,
  kind        text        not null,
  level       text        not null,
  title       text        not null,
  text        text        not null,
  key         text,
  step        float8,
  value       float8,
  state       text        not null,      -- open, resolved, or noted: nothing resolves it
  fired_at    timestamptz not null,
  resolved_at timestamptz,
  resolution  text,
  -- 1, 2, … over all alerts, renewed when one is resolved: the cursor of the stream.
  change      bigint      not null
) with (fillfactor = 80);
create index alerts_of_run on alerts (run_id, fired_at desc, alert_id desc);
create index alerts_changed on alerts (change);

-- Read model behind /api/diagnoses/{id} and /api/jobs/{run_id}/diagnoses. Disposable: drop, recreate, replay.
create table diagnoses (
  diagnosis_id integer     primary key,
  run_id       text        not null,
  attempt      integer,
  status       text        not null,
  trigger      text        not null,
  requested_by text        not null,
  created_at   timestamptz not null,
  started_at   timestamptz,
  finished_at  timestamptz,
  verdict      jsonb,                  -- null until there is one
  fingerprint  text,                   -- of the verdict
  analyzer     jsonb,
  error        text
) with (fillfactor = 80);
create index diagnoses_of_run on diagnoses (run_id, diagnosis_id desc);
create index diagnoses_alike on diagnoses (fingerprint, created_at desc) where fingerprint is not null;

select readable_with_run('run_ends', 'run_hparams', 'run_hparam_changes', 'run_hparam_values', 'run_labels', 'run_notes',
                         'mlflow_runs', 'mlflow_inputs', 'run_benchmarks', 'run_environments', 'run_nodes', 'alerts',
                         'diagnoses');
