-- Read models behind /api/environments. Disposable: drop, recreate, replay.
create table rl_environments (
  owner      text        not null,
  name       text        not null,
  visibility text        not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (owner, name)
);

-- `manifest`: what its environment.yaml says; `rollouts` and `log`: of its build, empty before.
create table rl_environment_versions (
  owner             text        not null,
  name              text        not null,
  version           text        not null,
  ref               text        not null unique,
  digest            text        not null,
  state             text        not null,
  manifest          jsonb       not null,
  archive_bytes     bigint      not null,
  deployment_id     text,
  revision_id       text,
  error             text,
  rollouts          jsonb       not null,
  log               text        not null,
  deprecated_reason text,
  created_by        text        not null,
  created_at        timestamptz not null,
  built_at          timestamptz,
  primary key (owner, name, version)
);

-- The versions that runs use, as their jobs were admitted.
create table rl_environment_uses (
  run_id text             not null,
  ref    text             not null,
  digest text             not null,
  weight double precision not null,
  args   jsonb            not null,
  primary key (run_id, ref)
);
create index rl_environment_uses_of_version on rl_environment_uses (ref, run_id);

select readable_if('owner = (select caller()) or (visibility = ''public'' and (select caller()) is not null)', 'rl_environments');
select readable_where('(select true from rl_environments e where e.owner = <table>.owner and e.name = <table>.name)', 'rl_environment_versions');
select readable_with_run('rl_environment_uses');
