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

-- Row-level security (0300_row_security.sql): its owner, and whoever reads its project.
create policy readable on models for select using (
  case when owner = (select caller()) or project in (select readable_projects()) then true end is not null);
alter table models enable row level security;
do $$
declare t text;
begin
  foreach t in array array['model_versions', 'model_aliases', 'model_alias_moves']
  loop
    execute format(
      'create policy readable on %1$I for select using (
         case when (select true from models m where m.model = %1$I.model) then true end is not null)', t);
    execute format('alter table %I enable row level security', t);
  end loop;
end $$;
