-- Read model behind GET /api/volumes.
create table volumes (
  volume_id      text        primary key,
  owner          text        not null,
  name           text        not null,
  size_gb        integer     not null,
  backend        text        not null,
  read_only      boolean     not null,
  auto_cleanup_s integer,
  directory      text        not null,
  used_bytes     bigint,
  measured_at    timestamptz,
  last_used_at   timestamptz not null,
  created_at     timestamptz not null
);
create index volumes_by_owner on volumes (owner, name);
select readable_if('owner = (select caller())', 'volumes');

-- The jobs that name them and have not ended.
create table volume_uses (
  volume_id  text        not null,
  run_id     text        not null,
  owner      text        not null,
  short_id   text        not null,
  mount_path text        not null,
  read_only  boolean     not null,
  since      timestamptz not null,
  primary key (run_id, volume_id, mount_path)
);
create index volume_uses_of_volume on volume_uses (volume_id);
select readable_if('owner = (select caller())', 'volume_uses');

create table volume_snapshots (
  snapshot_id  text        primary key,
  volume_id    text        not null,
  owner        text        not null,
  path         text        not null,
  dataset      text        not null,
  state        text        not null,
  ref          text,
  error        text,
  requested_by text        not null,
  requested_at timestamptz not null
);
create index volume_snapshots_of_volume on volume_snapshots (volume_id, requested_at desc);
select readable_if('owner = (select caller())', 'volume_snapshots');
