-- Models imported from the hub, one row for each person and commit, and where their files are.
create table write.hub_import (
  import_id text primary key,
  owner     text not null,
  repo      text not null,
  commit    text not null,
  -- awaited: an admitted job needs it, and the request follows; then the states of events/hub-imports.ts.
  state     text not null,
  error     text,
  -- Whether the hub gave it to everybody.
  is_open   boolean not null default false
);
create index hub_import_under_way on write.hub_import (state) where state in ('awaited', 'resolving', 'downloading');
create index hub_import_owner on write.hub_import (owner);

create table write.hub_file (
  import_id  text    not null references write.hub_import on delete cascade,
  name       text    not null,
  -- Its place in the list by name; names the file while it arrives.
  nth        integer not null,
  size_bytes bigint  not null,
  -- What git calls the content.
  oid        text    not null,
  -- From the hub, or computed when the file has arrived.
  sha256     text,
  is_here    boolean not null default false,
  -- It had the wrong digest after it had arrived in several parts.
  is_retried boolean not null default false,
  primary key (import_id, name)
);
create index hub_file_content on write.hub_file (sha256) where is_here;
