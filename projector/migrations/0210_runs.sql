-- Read model behind /api/projects and of who may read what.
create table projects (
  name       text        primary key,
  owner      text        not null,
  visibility text        not null,
  created_at timestamptz not null
);

create table project_members (
  project  text not null,
  username text not null,
  role     text not null,
  primary key (project, username)
);
create index project_members_by_person on project_members (username);

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
  -- What `?q=` looks in, lower case: name, ids, tags.
  search         text        not null
) with (fillfactor = 80);
create index runs_newest on runs (created_at desc, run_id desc);
create index runs_of_project on runs (project, created_at desc, run_id desc);
create index runs_of_owner on runs (owner, created_at desc, run_id desc);
create index runs_in_state on runs (state, created_at desc, run_id desc);
create index runs_tagged on runs using gin (tags);
create index runs_begun_from on runs using gin (init_from);

-- Hyperparameters as they are, and each change of one that was set before.
create table run_hparams (
  run_id  text  primary key,
  params  jsonb not null,
  changes jsonb not null
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
