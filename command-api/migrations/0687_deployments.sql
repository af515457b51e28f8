-- What rules about deployments need that span streams; the process that looks after replicas works from it.
create table deployment_state (
  deployment_id        text        primary key,
  project              text        not null,
  owner                text        not null,
  name                 text        not null,
  state                text        not null,
  promoted_revision_id text,
  min_replicas         integer     not null,
  max_replicas         integer     not null,
  target_concurrency   integer     not null default 16,
  up_window_s          integer     not null default 30,
  down_window_s        integer     not null default 600,
  idle_suspend_s       integer,
  -- Engines that the promoted revision should have, by its newest requests; null: `min_replicas`.
  desired_replicas     integer,
  -- When it began to serve, or had its last request.
  active_at            timestamptz not null default '-infinity'
);
-- The name of a deleted one is free again.
create unique index deployment_by_name on deployment_state (project, name) where state not in ('deleting', 'deleted');
create index deployment_not_deleted on deployment_state (deployment_id) where state <> 'deleted';

create table revision_state (
  revision_id   text        primary key,
  deployment_id text        not null references deployment_state,
  state         text        not null,
  source        jsonb       not null,
  serving       jsonb       not null,
  created_by    text        not null,
  created_at    timestamptz not null,
  -- Since when another revision is promoted; null before it was promoted and while it is.
  superseded_at timestamptz,
  -- How often its engines have ended by themselves, and when the next one may be started.
  restarts      integer     not null default 0,
  next_start_at timestamptz not null default '-infinity'
);
create index revision_of_deployment on revision_state (deployment_id);
-- For what protects an artifact from deletion.
create index revision_of_artifact on revision_state ((source ->> 'artifact_id'));

-- One engine that serves a revision, or will. `run_id`: its job; null if Forge does not run it.
create table replica (
  replica_id     text        primary key,
  revision_id    text        not null references revision_state,
  deployment_id  text        not null,
  run_id         text,
  base_url       text,
  -- `draining`: it gets no new requests, and its job ends once those in progress have ended.
  state          text        not null check (state in ('starting', 'ready', 'failing', 'draining', 'ended')),
  started_at     timestamptz not null,
  -- Consecutive failed probes, and when the next one is due.
  failures       integer     not null default 0,
  next_at        timestamptz not null,
  last_error     text,
  -- Where the engine of a replica that Forge runs listens.
  port           integer,
  draining_since timestamptz
);
create index replica_of_revision on replica (revision_id);
create index replica_to_look_after on replica (next_at) where state <> 'ended';
create unique index replica_of_run on replica (run_id);

-- What gateways serve. A transaction that changes a row of the tables below, or a token of a deployment, takes the next epoch after
-- every other lock: the lock on this row makes epochs commit in their order, so that a gateway that has seen an epoch finds all
-- later changes by comparing numbers.
create table serving_epoch (
  one   boolean primary key default true check (one),
  epoch bigint  not null
);
insert into serving_epoch (epoch) values (0);

-- `revision_id` is the promoted revision; null before the first promotion.
create table deployment_route (
  deployment_id   text    primary key,
  state           text    not null check (state in ('serving', 'suspended', 'deleted')),
  revision_id     text,
  max_body_bytes  bigint  not null,
  timeout_s       integer not null,
  max_concurrency integer not null,
  epoch           bigint  not null
);
create index on deployment_route (epoch);

-- An engine that serves a revision. `base_url` ends before `/v1`; it comes from the executor or from the person who described an
-- engine that Forge does not run, whose secret header is sealed (auth/sealed.ts).
create table replica_route (
  replica_id    text    primary key,
  deployment_id text    not null,
  revision_id   text    not null,
  base_url      text    not null,
  header_name   text,
  header_sealed bytea,
  is_ready      boolean not null,
  epoch         bigint  not null
);
create index on replica_route (revision_id);
create index on replica_route (epoch);

-- Requests in progress in each gateway, by deployment and by replica, every second while there are any. The times are those of the
-- database, so that gateways on other machines need no exact clock; a row that is seconds old is of a gateway that is gone.
create unlogged table serving_load (
  gateway_id  text        not null,
  subject     text        not null,
  in_flight   integer     not null,
  -- On average since the previous report.
  concurrency float8      not null,
  seen_at     timestamptz not null,
  primary key (subject, gateway_id)
);
create index serving_load_seen on serving_load (seen_at);

-- Who may query which engines with an access token, and until when. Gateways read it with each request to a session.
create table playground_session (
  session_id     text        primary key,
  username       text        not null,
  deployment_id  text        not null,
  -- Its deployment was created for it, and is deleted with it.
  owns           boolean     not null,
  artifact_id    text,
  revision_id    text,
  model          text,
  params         jsonb       not null,
  idle_timeout_s integer     not null,
  max_lifetime_s integer     not null,
  created_at     timestamptz not null,
  -- Written at most every ten seconds.
  last_used_at   timestamptz not null,
  expires_at     timestamptz not null,
  ended_at       timestamptz,
  ended_as       text check (ended_as in ('closed', 'expired', 'failed')),
  end_reason     text
);
create index playground_of_person on playground_session (username, created_at desc);
create index playground_open on playground_session (expires_at) where ended_at is null;
create index playground_ended on playground_session (ended_at);
create index playground_to_clear on playground_session (deployment_id) where owns;
