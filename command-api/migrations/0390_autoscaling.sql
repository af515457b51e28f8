-- How many engines a deployment should have: what was asked for, and what requests of late call for.
alter table deployment_state
  add column target_concurrency integer not null default 16,
  add column up_window_s integer not null default 30,
  add column down_window_s integer not null default 600,
  add column idle_suspend_s integer,
  -- Engines that the promoted revision should have; null: the least that were asked for.
  add column desired_replicas integer,
  -- When it began to serve, or had its last request.
  add column active_at timestamptz not null default '-infinity';

-- `draining`: it gets no new requests, and its job ends once those under way have ended.
alter table replica drop constraint replica_state_check;
alter table replica
  add constraint replica_state_check check (state in ('starting', 'ready', 'failing', 'draining', 'ended')),
  add column draining_since timestamptz;

-- Requests under way in each gateway, by deployment and by replica, every second while there are any. The times are those of the
-- database, so that gateways on other machines need no exact clock; a row that is seconds old is of a gateway that is gone.
create unlogged table serving_load (
  gateway_id  text        not null,
  subject     text        not null,
  in_flight   integer     not null,
  -- On average since the report before.
  concurrency float8      not null,
  seen_at     timestamptz not null,
  primary key (subject, gateway_id)
);
create index serving_load_seen on serving_load (seen_at);
