-- The decision lane: events, and the few rows that rules across streams need. Nobody reads these but
-- command-api, the relay and the audit.
create table event (
  position       bigint      generated always as identity primary key,
  -- The writing transaction: a reader passes only those below every transaction still open (ADR 2).
  xid            xid8        not null default pg_current_xact_id(),
  event_id       uuid        not null unique,
  stream         text        not null,
  stream_version integer     not null check (stream_version >= 1),
  type           text        not null,
  schema_version integer     not null,
  data           jsonb       not null,
  meta           jsonb       not null,  -- actor, request_id, causation_id
  occurred_at    timestamptz not null,
  unique (stream, stream_version)
);
create index event_in_commit_order on event (xid, position);

-- One row: how far the relay has published.
create table relay_cursor (
  only_row boolean primary key default true check (only_row),
  xid      xid8   not null default '0',
  position bigint not null default 0
);
insert into relay_cursor default values;

-- Names that may be taken once: projects, short ids.
create table unique_name (
  kind   text not null,
  name   text not null,
  holder text not null,
  primary key (kind, name)
);

-- Answers to creating POSTs with an Idempotency-Key, kept for 24 hours.
create table idempotency (
  scope        text        not null,  -- user and route
  key          text        not null,
  request_hash bytea       not null,
  answer       jsonb,                 -- null while the first request is still at work
  position     text,
  created_at   timestamptz not null,
  primary key (scope, key)
);
