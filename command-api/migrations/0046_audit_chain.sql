-- A chain of hashes over all events in the order of their commits: whoever changes, removes, slips in or turns
-- around what was recorded breaks it (ADR 8). The relay adds the links in the statement that moves its cursor, so
-- that writers never wait for each other.
create table audit_chain (
  position bigint primary key,  -- of the event
  link     bigint not null,     -- 1, 2, 3… in commit order
  hash     bytea  not null      -- sha256(hash of the link before || sha256(content of the event))
);
create trigger event_is_kept before update or delete or truncate on audit_chain
  for each statement execute function event_is_kept();

-- One row: the newest link. The chain begins with 32 bytes of zero.
create table audit_head (
  only_row boolean primary key default true check (only_row),
  link     bigint not null default 0,
  xid      xid8   not null default '0',
  position bigint not null default 0,
  hash     bytea  not null default decode(repeat('00', 32), 'hex')
);
insert into audit_head default values;
