-- What rules about deployments need that span streams, and what the process that looks after replicas works from.
create table deployment_state (
  deployment_id text primary key,
  project text not null,
  owner text not null,
  name text not null,
  state text not null,
  promoted_revision_id text,
  min_replicas integer not null,
  max_replicas integer not null
);
-- The name of one that is deleted is free again.
create unique index deployment_by_name on deployment_state (project, name) where state not in ('deleting', 'deleted');
create index deployment_not_deleted on deployment_state (deployment_id) where state <> 'deleted';

create table revision_state (
  revision_id text primary key,
  deployment_id text not null references deployment_state,
  state text not null,
  source jsonb not null,
  serving jsonb not null,
  created_by text not null,
  created_at timestamptz not null,
  -- Since when another revision is promoted; null before it was promoted and while it is.
  superseded_at timestamptz
);
create index revision_of_deployment on revision_state (deployment_id);

-- One engine that answers for a revision, or is on its way to. `run_id`: its job; null where Forge does not run it.
create table replica (
  replica_id text primary key,
  revision_id text not null references revision_state,
  deployment_id text not null,
  run_id text,
  base_url text,
  state text not null check (state in ('starting', 'ready', 'failing', 'ended')),
  started_at timestamptz not null,
  -- Probes that failed one after the other, and when the next one is due.
  failures integer not null default 0,
  next_at timestamptz not null,
  last_error text
);
create index replica_of_revision on replica (revision_id);
create index replica_to_look_after on replica (next_at) where state <> 'ended';
create unique index replica_of_run on replica (run_id);
