-- Volumes: folders of people that outlive jobs.
create table write.volume (
  volume_id      text primary key,
  owner          text        not null,
  name           text        not null,
  size_gb        integer     not null,
  backend        text        not null,
  read_only      boolean     not null,
  auto_cleanup_s integer,
  -- The folder of its files, below the volumes of its backend.
  directory      text        not null,
  used_bytes     bigint,
  measured_at    timestamptz,
  -- By a job, or its creation; write.use has the ends of jobs.
  last_used_at   timestamptz not null,
  -- The cleanup that its owner was told of.
  announced_at   timestamptz,
  unique (owner, name)
);

-- Who uses a volume now: attempts of runs and snapshots, many that read or one that writes.
create table write.volume_hold (
  volume_id text    not null references write.volume on delete cascade,
  holder    text    not null,
  read_only boolean not null,
  primary key (volume_id, holder)
);
create index volume_hold_holder on write.volume_hold (holder);

-- The jobs that have not ended and name a volume.
create index use_of_volume on write.use (used_id) where used_kind = 'volume' and until is null;
