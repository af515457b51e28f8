-- Read models behind /api/runs/{run_id}/environment: what each run runs on and with. Runs of one image and machine share
-- a picture, so it is kept once.
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

create policy readable on run_environments for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = run_environments.run_id) then true end is not null);
alter table run_environments enable row level security;

create policy readable on run_nodes for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = run_nodes.run_id) then true end is not null);
alter table run_nodes enable row level security;

-- Whoever may read one of its runs.
create policy readable on environments for select using (
  case when (select true from run_environments e where e.digest = environments.digest limit 1) then true end is not null);
alter table environments enable row level security;
