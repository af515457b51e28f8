-- What a user may hold and what they hold now, in one row, so that a single conditional UPDATE decides
-- whether another job fits: two that race for the rest cannot both get it.
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

-- GPU time by attempt, from the billing start: what `daily_gpu_hours` is checked against.
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

-- A new attempt is known to be newer than every one before it, whoever submits it.
create sequence fencing_token;

-- The newest state of each job, changed with its events in one transaction: what the queue and the executor
-- work from.
create table job_state (
  run_id            text        primary key references run_state,
  short_id          text        not null unique,
  owner             text        not null,
  project           text        not null,
  state             text        not null,
  priority          integer     not null,
  profile           text        not null,
  executor          text        not null,
  series            text        not null,
  gpus              integer     not null,
  admitted_at       timestamptz not null,
  -- Values of `env` as they were given; events carry the secret-looking ones masked.
  env               jsonb       not null,
  queue_reason      text,
  -- Held or waiting for another try until then.
  not_before        timestamptz,
  -- `max_pending_s` after the admission.
  pending_until     timestamptz,
  attempt           integer     not null default 0,
  fencing_token     bigint,
  scheduled_at      timestamptz,
  -- True until nothing of the attempt runs any more.
  is_active         boolean     not null default false,
  executor_running  boolean     not null default false,
  -- When a limit of the spec is reached.
  limit_at          timestamptz,
  -- From when on the executor is to end the attempt, and how long that may take.
  stop_at           timestamptz,
  stop_grace_s      float8,
  stop_force        boolean     not null default false,
  -- Exit code 0 without a report: believed after this.
  settle_at         timestamptz,
  -- Bytes of the attempt's output that are on the log.
  shipped_stdout    bigint      not null default 0,
  shipped_stderr    bigint      not null default 0
) with (fillfactor = 70);
create index job_queue on job_state (priority desc, admitted_at, run_id) where state = 'queued';
create index job_active on job_state (run_id) where is_active;
create index job_held on job_state (not_before) where state = 'held';
create index job_pending on job_state (pending_until) where state in ('held', 'queued');
create index job_to_settle on job_state (settle_at) where settle_at is not null;

-- Hardware a job can ask for. Executors write what they have; admins the price.
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

-- Prefixes `host[/path]` that images may come from; none: no image but the recipes' own.
create table image_registry (
  prefix text primary key
);
