-- Read model behind /api/jobs: one row for each job, newest facts only. Disposable: drop, recreate, replay.
create table jobs (
  run_id              text        primary key,
  short_id            text        not null unique,
  name                text        not null,
  project             text        not null,
  owner               text        not null,
  team                text,
  kind                text        not null,
  state               text        not null,
  state_reason        text,
  phase               text,
  recipe_name         text        not null,
  recipe_version      text        not null,
  profile             text        not null,
  series              text        not null,
  gpus                integer     not null,  -- of all nodes
  nodes               integer     not null,
  priority            integer     not null,
  preemptible         boolean     not null,
  attempt             integer     not null,  -- 0: none was scheduled yet
  max_attempts        integer     not null,
  submitted_at        timestamptz not null,
  -- Of the newest attempt.
  scheduled_at        timestamptz,
  executor_running_at timestamptz,
  started_at          timestamptz,
  ended_at            timestamptz,
  -- Since when the job is in its state, and the time it spent before in states of each kind.
  state_since         timestamptz not null,
  queued_ms           bigint      not null,
  starting_ms         bigint      not null,
  running_ms          bigint      not null,
  price_per_gpu_hour  numeric     not null,
  currency            text        not null,
  exit_code           integer,
  tags                text[]      not null,
  init_from           text,
  updated_at          timestamptz not null,
  total_steps         bigint,
  spec                jsonb       not null,
  admission           jsonb       not null,
  hold                jsonb,
  control             jsonb       not null,
  -- For `?q=`, lower case: name, ids, tags.
  search              text        not null,
  -- Since when its machine is silent.
  unreachable_since   timestamptz
) with (fillfactor = 70);
-- A job's row is rewritten each time its state changes, its spec and admission of some 2 kB are not: out of line they stay where
-- they are. Uncompressed, because compressing them took longer than the rest of the row.
alter table jobs alter column spec set storage external, alter column admission set storage external;
create index jobs_newest on jobs (submitted_at desc, run_id desc);
create index jobs_of_project on jobs (project, submitted_at desc, run_id desc);
create index jobs_of_owner on jobs (owner, submitted_at desc, run_id desc);
create index jobs_in_queue on jobs (priority desc, submitted_at, run_id) where state = 'queued';
create index jobs_going on jobs (owner) where ended_at is null;

create table job_attempts (
  run_id      text    not null,
  attempt     integer not null,
  nodes       text[]  not null,
  started_at  timestamptz,     -- the billing start
  ended_at    timestamptz,
  end_reason  text,
  exit_code   integer,
  resume_from text,            -- the checkpoint from which it continues
  primary key (run_id, attempt)
);

-- What an admin set for whom; people without a row have the defaults.
create table quotas (
  username text  primary key,
  quota    jsonb not null
);

-- Read model behind /api/usage and the figures of each job: the ledger. Disposable: drop, recreate, replay.
-- All that the bill of a job depends on (`Metered` in events/calculations/billing.ts).
create table usage_runs (
  run_id  text    primary key,
  owner   text    not null,
  project text    not null,
  metered jsonb   not null,
  is_open boolean not null  -- an attempt holds GPUs that are paid for
);
create index usage_open on usage_runs (owner) where is_open;

-- Rows are added and never changed: one with `sign` -1 takes an earlier one back. Amounts are signed.
create table usage_lines (
  run_id             text        not null,
  nth                integer     not null,  -- within the run
  owner              text        not null,
  project            text        not null,
  attempt            integer     not null,
  day                text        not null,  -- UTC, 2026-11-20
  starts_at          timestamptz not null,
  ends_at            timestamptz not null,
  sign               integer     not null check (sign in (1, -1)),
  price_per_gpu_hour text        not null,
  gpu_ms             numeric     not null,
  cost_micro         numeric     not null,  -- millionths of the currency
  primary key (run_id, nth)
);
create index usage_of_day on usage_lines (day);
create index usage_of_owner on usage_lines (owner, day);

select readable_with_project('jobs', 'usage_runs', 'usage_lines');
select readable_with_run('job_attempts');
select readable_if('username = (select caller())', 'quotas');
