-- Artifacts on their way to the hub, and afterwards.
create table write.hub_push (
  push_id     text        primary key,
  owner       text        not null,
  repo        text        not null,
  is_private  boolean     not null,
  run_id      text        not null,
  artifact_id text,
  -- As in events/hub-pushes.ts.
  state       text        not null,
  -- Written with the list of files, so that every attempt sends the same one.
  card        text
);
create index hub_push_under_way on write.hub_push (owner) where state in ('requested', 'sending');

-- The files of those that are under way.
create table write.hub_push_file (
  push_id    text   not null references write.hub_push on delete cascade,
  name       text   not null,
  size_bytes bigint not null,
  sha256     text   not null,
  -- What git calls the content.
  oid        text   not null,
  -- The first bytes in base64.
  sample     text   not null,
  primary key (push_id, name)
);
