-- Read model behind GET /api/hub-pushes.
create table hub_pushes (
  push_id     text        primary key,
  owner       text        not null,
  repo        text        not null,
  private     boolean     not null,
  run_id      text        not null,
  artifact_id text,
  model       text,
  state       text        not null,
  file_count  integer,
  bytes       bigint,
  bytes_done  bigint      not null,
  commit      text,
  url         text,
  error       text,
  card        text,
  created_at  timestamptz not null,
  updated_at  timestamptz not null
);
create index hub_pushes_newest on hub_pushes (owner, created_at desc);
select readable_if('owner = (select caller())', 'hub_pushes');
