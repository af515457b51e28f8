-- Hardware a job can request. Executors write what they have; admins the price.
create table profile (
  name               text    primary key,
  series             text    not null,
  gpus_per_node      integer not null,
  max_nodes          integer not null,
  cpus               integer,
  memory_gb          float8,
  executor           text    not null,
  container          boolean not null,
  available          boolean not null,
  price_per_gpu_hour numeric(12, 4) not null default 0
);

-- Prices of profiles after their first one. A change applies to running jobs from its time on: `job.repriced`.
create table profile_rate (
  profile            text           not null,
  effective_at       timestamptz    not null,
  price_per_gpu_hour numeric(12, 4) not null,
  primary key (profile, effective_at)
);

-- What a user may hold and what they hold now, in one row, so that a single conditional UPDATE decides whether another job fits:
-- of two that race for the rest, only one gets it.
create table quota (
  username            text    primary key,
  max_concurrent_gpus integer not null default 8,
  max_concurrent_jobs integer not null default 4,
  daily_gpu_hours     float8  not null default 0,      -- 0: unlimited
  max_storage_gb      float8  not null default 0,      -- 0: unlimited
  allowed_profiles    text[]  not null default '{}',   -- empty: all
  priority            integer not null default 0,
  per_series          jsonb   not null default '{}',
  set_at              timestamptz,                     -- null: nobody has set it
  held_gpus           integer not null default 0 check (held_gpus >= 0),
  held_jobs           integer not null default 0 check (held_jobs >= 0),
  held_series         jsonb   not null default '{}'    -- GPUs by series
);

-- Who holds how much of it: one row while an attempt may run.
create table quota_hold (
  run_id   text        primary key,
  username text        not null references quota,
  series   text        not null,
  gpus     integer     not null check (gpus >= 0),
  since    timestamptz not null
);

-- GPUs of the engines that bind them by index: no index is held twice.
create table gpu_slot (
  executor  text    not null,
  gpu_index integer not null,
  run_id    text    not null,
  primary key (executor, gpu_index)
);
create index gpu_slot_of_run on gpu_slot (run_id);

-- GPU time by attempt, from the billing start: `daily_gpu_hours` is checked against it.
create table gpu_use (
  run_id     text        not null,
  attempt    integer     not null,
  username   text        not null,
  series     text        not null,
  gpus       integer     not null,
  started_at timestamptz not null,
  ended_at   timestamptz,
  primary key (run_id, attempt)
);
create index gpu_use_of_user on gpu_use (username, started_at);
-- For the order of the queue: the attempts of a user that ended since a time, and those that run.
create index gpu_use_by_end on gpu_use (username, ended_at);

-- Machines that run attempts, and when each last looked after its own.
create table engine (
  engine         text        primary key,
  seen_at        timestamptz not null,
  -- Where the engines of replicas have their sockets on a machine that runs attempts itself; null on a cluster, whose engines
  -- listen on the network.
  runs_directory text
);

-- For deployments, which do not read the table of hosts themselves.
create function runs_directory_of(host text) returns text stable language sql
  as 'select runs_directory from write.engine where engine = host';

-- Whether jobs may start at all. One row, which every start locks in share mode: once a pause is confirmed, nothing starts.
create table queue_switch (
  is_only    boolean     primary key default true check (is_only),
  paused     boolean     not null default false,
  reason     text,
  changed_at timestamptz,
  changed_by text
);
insert into queue_switch default values;

-- Engines on which nothing may start: names of executors, or ids of machines.
create table drain (
  engine     text        primary key,
  reason     text,
  since      timestamptz not null,
  drained_by text        not null
);

-- How long attempts held their GPUs, for estimates of waits. Kept for 90 days.
create table past_hold (
  recipe   text        not null,
  profile  text        not null,
  seconds  float8      not null,
  ended_at timestamptz not null
);
create index past_hold_of_recipe on past_hold (recipe, profile, ended_at desc);
create index past_hold_by_age on past_hold (ended_at);

-- Such estimates and the actual waits, from which the next ones are corrected.
create table past_wait (
  executor   text             not null,
  p50_s      integer          not null,
  p90_s      integer          not null,
  waited_s   double precision not null,
  started_at timestamptz      not null
);
create index past_wait_of_executor on past_wait (executor, started_at desc);
create index past_wait_by_age on past_wait (started_at);
