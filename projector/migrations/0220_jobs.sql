-- Read model behind /api/jobs: one row a job, newest facts only. Disposable: drop, recreate, replay.
create table jobs (
  run_id              text             primary key,
  short_id            text             not null unique,
  name                text             not null,
  project             text             not null,
  owner               text             not null,
  team                text,
  kind                text             not null,
  state               text             not null,
  state_reason        text,
  phase               text,
  recipe_name         text             not null,
  recipe_version      text             not null,
  profile             text             not null,
  series              text             not null,
  gpus                integer          not null,  -- of all nodes
  nodes               integer          not null,
  priority            integer          not null,
  preemptible         boolean          not null,
  attempt             integer          not null,  -- 0: none was scheduled yet
  max_attempts        integer          not null,
  submitted_at        timestamptz      not null,
  -- Of the newest attempt.
  scheduled_at        timestamptz,
  executor_running_at timestamptz,
  started_at          timestamptz,
  ended_at            timestamptz,
  -- Since when the job is in its state, and the time it spent before in states of each kind.
  state_since         timestamptz      not null,
  queued_ms           bigint           not null,
  starting_ms         bigint           not null,
  running_ms          bigint           not null,
  gpu_seconds         double precision not null,  -- of attempts that have ended
  price_per_gpu_hour  numeric          not null,
  currency            text             not null,
  exit_code           integer,
  tags                text[]           not null,
  init_from           text,
  updated_at          timestamptz      not null,
  total_steps         bigint,
  spec                jsonb            not null,
  admission           jsonb            not null,
  hold                jsonb,
  control             jsonb            not null,
  -- What `?q=` looks in, lower case: name, ids, tags.
  search              text             not null
) with (fillfactor = 70);
create index jobs_newest on jobs (submitted_at desc, run_id desc);
create index jobs_of_project on jobs (project, submitted_at desc, run_id desc);
create index jobs_of_owner on jobs (owner, submitted_at desc, run_id desc);
create index jobs_in_queue on jobs (priority desc, submitted_at, run_id) where state = 'queued';
create index jobs_going on jobs (owner) where ended_at is null;

create table job_attempts (
  run_id      text             not null,
  attempt     integer          not null,
  nodes       text[]           not null,
  started_at  timestamptz,     -- the billing start
  ended_at    timestamptz,
  end_reason  text,
  exit_code   integer,
  gpu_seconds double precision not null,
  primary key (run_id, attempt)
);

-- What an admin set for whom; who has no row has the defaults.
create table quotas (
  username text  primary key,
  quota    jsonb not null
);
