-- Read model behind /api/runs/{run_id}/artifacts. Disposable: drop, recreate, replay.
create table artifacts (
  artifact_id   text        primary key,
  run_id        text        not null,
  kind          text        not null,
  path          text        not null,
  format        text        not null,
  step          bigint,
  size_bytes    bigint,
  sha256        text,
  metrics       jsonb       not null,
  attempt       integer,
  status        text        not null,
  created_at    timestamptz not null,
  registered_by text        not null,
  -- When and by whom its deletion was requested; `keep_rules`: by those of its job.
  deleted_at    timestamptz,
  deleted_by    text
);
create index artifacts_of_run on artifacts (run_id, step desc nulls last, created_at desc);
select readable_with_run('artifacts');

-- Read model behind /api/rubrics: the newest version of each. Disposable: drop, recreate, replay.
create table rubrics (
  owner       text             not null,
  name        text             not null,
  criteria    jsonb            not null,
  description text             not null,
  scale_min   double precision not null,
  scale_max   double precision not null,
  visibility  text             not null,
  version     integer          not null check (version >= 1),
  digest      text             not null,
  created_at  timestamptz      not null,
  updated_at  timestamptz      not null,
  updated_by  text             not null,
  primary key (owner, name)
);
select readable_if('owner = (select caller()) or (visibility = ''public'' and (select caller()) is not null)', 'rubrics');

-- Read models behind /api/models. Disposable: drop, recreate, replay.
create table models (
  model             text        primary key,
  project           text        not null,
  owner             text        not null,
  description       text        not null,
  protected_aliases text[]      not null,
  created_at        timestamptz not null,
  updated_at        timestamptz not null,
  deleted_at        timestamptz
);
create index models_of_project on models (project, model);

create table model_versions (
  model       text        not null,
  version     integer     not null,
  artifact_id text        not null,
  run_id      text        not null,
  archived    boolean     not null,
  stage_notes text        not null,
  license     text,
  created_by  text        not null,
  created_at  timestamptz not null,
  primary key (model, version)
);
create index model_versions_of_artifact on model_versions (artifact_id);
-- Lineage of a run.
create index model_versions_of_run on model_versions (run_id);

create table model_aliases (
  model    text        not null,
  alias    text        not null,
  version  integer     not null,
  moved_at timestamptz not null,
  moved_by text        not null,
  primary key (model, alias)
);

create table model_alias_moves (
  model        text        not null,
  alias        text        not null,
  -- 1, 2, … of the alias.
  nth          integer     not null,
  at           timestamptz not null,
  actor        text        not null,
  from_version integer,
  to_version   integer,
  reason       text        not null,
  primary key (model, alias, nth)
);

select readable_with_project('models');
select readable_where('(select true from models m where m.model = <table>.model)',
                      'model_versions', 'model_aliases', 'model_alias_moves');
