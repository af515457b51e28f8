-- The order of commits is that of transaction ids, which a dump keeps while the counter of the cluster it is restored into may
-- be lower: events of before and after would mix. So each such restore begins another epoch, and the order is
-- (epoch, xid, position). One row.
create table epoch (
  only_row boolean primary key default true check (only_row),
  number   integer not null
);
insert into epoch (number) values (1);

create function current_epoch() returns integer language sql stable
begin atomic
  select number from epoch;
end;

-- The decisions. Nobody reads them but the write side, the relay and the audit.
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
  epoch          integer     not null default current_epoch(),
  unique (stream, stream_version)
  -- An admitted job's event has some 3 kB. Compressing it saved a third, took longer than the rest of its insert, and had to be
  -- undone for the log, the audit chain and each fold.
) with (toast_tuple_target = 8160);
create index event_in_commit_order on event (epoch, xid, position);

-- What `GET /api/audit` filters by. Each begins or ends with the time shown, so that `since` and `until` are a range of it; the
-- position makes the order total. Events of one stream are found by its unique index.
create index event_by_time on event (occurred_at, position);
create index event_by_type on event (type, occurred_at, position);
-- `job.*`
create index event_by_family on event (split_part(type, '.', 1), occurred_at, position);
create index event_by_actor on event ((meta #>> '{actor,id}'), occurred_at, position);
create index event_by_request on event ((meta ->> 'request_id'), occurred_at, position);

-- Events are never changed or deleted. Whoever must do so nevertheless has to drop the trigger first, and the audit chain still
-- reveals it. An event written before a restore was noticed moves to the new epoch: that column alone may change.
create function event_is_kept() returns trigger language plpgsql as $$
begin
  raise exception '% of write.%: what was recorded is kept as it is', tg_op, tg_table_name
    using errcode = 'restrict_violation';
end $$;
create trigger event_is_kept
  before update of position, xid, event_id, stream, stream_version, type, schema_version, data, meta, occurred_at
      or delete or truncate on event
  for each statement execute function event_is_kept();

-- How far the relay has published. One row.
create table relay_cursor (
  only_row boolean primary key default true check (only_row),
  xid      xid8    not null default '0',
  position bigint  not null default 0,
  epoch    integer not null default 1
);
insert into relay_cursor default values;

-- A chain of hashes over all events in the order of their commits: changing, removing, inserting or moving an event breaks it
-- (ADR 8). The relay adds the links in the statement that moves its cursor, so that writers never wait for each other.
create table audit_chain (
  position bigint primary key,  -- of the event
  link     bigint not null,     -- 1, 2, 3… in commit order
  hash     bytea  not null      -- sha256(hash of the link before || sha256(content of the event))
);
create trigger event_is_kept before update or delete or truncate on audit_chain
  for each statement execute function event_is_kept();

-- The newest link; the chain begins with 32 bytes of zero. One row.
create table audit_head (
  only_row boolean primary key default true check (only_row),
  link     bigint  not null default 0,
  xid      xid8    not null default '0',
  position bigint  not null default 0,
  hash     bytea   not null default decode(repeat('00', 32), 'hex'),
  epoch    integer not null default 1
);
insert into audit_head default values;

-- The folded state of a long stream, so that a command reads only the events after it. Disposable: it can be folded again, and
-- one of another shape than the aggregate has now is not read.
create table snapshot (
  stream  text    primary key,
  version integer not null check (version >= 1),  -- of the last event in it
  shape   integer not null,
  state   jsonb   not null
);

-- Responses to creating POSTs with an Idempotency-Key, kept for 24 hours.
create table idempotency (
  scope        text        not null,  -- user and route
  key          text        not null,
  request_hash bytea       not null,
  answer       jsonb,                 -- null while the first request is in progress
  position     text,
  created_at   timestamptz not null,
  primary key (scope, key)
);
create index idempotency_by_age on idempotency (created_at);
