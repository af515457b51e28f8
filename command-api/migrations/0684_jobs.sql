-- A new attempt is known to be newer than every one before it, whoever submits it.
create sequence fencing_token;

-- The newest state of each job, changed with its events in one transaction: the queue and the executor work from it.
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
  -- Values of `env`, until the job ends; those that look like secrets are in `sealed_env`, and masked in events.
  env               jsonb       not null,
  queue_reason      text,
  -- Held or waiting for another try until then.
  not_before        timestamptz,
  -- `max_pending_s` after the admission.
  pending_until     timestamptz,
  attempt           integer     not null default 0,
  fencing_token     bigint,
  scheduled_at      timestamptz,
  -- True until nothing of the attempt is running.
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
  -- Superseded by `shipped`.
  shipped_stdout    bigint      not null default 0,
  shipped_stderr    bigint      not null default 0,
  -- The machine that runs the newest attempt; null: any machine of the executor may claim it.
  engine            text,
  -- Changes of the price up to then are in the job's events; '-infinity': none is.
  priced_at         timestamptz not null default now(),
  nodes             integer     not null default 1,
  -- The names of the newest attempt's nodes by rank, as far as they are known.
  placed_on         text[]      not null default '{}',
  -- Bytes of the newest attempt's output that are on the log, by rank: [{"stdout": 1, "stderr": 2}, …].
  shipped           jsonb       not null default '[]',
  recipe            text,
  -- Whether the job's events record that the machine of its newest attempt is silent.
  is_unreachable    boolean     not null default false,
  upload_id         text,       -- its package
  -- The wait estimated at its submission, before any correction; null: none was.
  foretold_p50_s    integer,
  foretold_p90_s    integer,
  -- Where the job came from: an artifact, and runs. So deleting a run can name what refers to it.
  init_from         text,
  retry_of          text,
  clone_of          text,
  -- The checkpoint that the newest attempt continues from.
  resume_from       text,
  -- How a job that is a replica of a revision serves (schemas/replicas.ts); null for all others.
  serving           jsonb,
  -- The values of `env` that look like secrets, sealed for this job under a key that is not in plain text in the database
  -- (jobs/sealed-env.ts).
  sealed_env        text
) with (fillfactor = 70);
create index job_queue on job_state (priority desc, admitted_at, run_id) where state = 'queued';
create index job_active on job_state (run_id) where is_active;
create index job_held on job_state (not_before) where state = 'held';
create index job_pending on job_state (pending_until) where state in ('held', 'queued');
create index job_to_settle on job_state (settle_at) where settle_at is not null;
create index job_with_upload on job_state (upload_id) where upload_id is not null;
create index job_begun_from on job_state (init_from) where init_from is not null;
create index job_repeating on job_state (retry_of) where retry_of is not null;
create index job_copied on job_state (clone_of) where clone_of is not null;
create index job_continuing on job_state (resume_from) where resume_from is not null;

-- Recipes that admins uploaded, and which recipes are deprecated. Versions never change, so rows only change in `deprecated`.
create sequence recipe_change;
create table recipe (
  name       text    not null,
  version    text    not null,
  recipe     jsonb,             -- null: a built-in one, of which only the deprecation is here
  archive    bytea,             -- .tar.gz; here, so that every host and every backup has it
  deprecated boolean not null,
  change     bigint  not null default nextval('recipe_change'),
  primary key (name, version),
  check ((recipe is null) = (archive is null))
);
-- The archive is compressed already.
alter table recipe alter column archive set storage external;
create unique index recipe_by_change on recipe (change);

-- Prefixes `host[/path]` that images may come from; none: only the recipes' own images.
create table image_registry (
  prefix text primary key
);

-- GPU time of the jobs that succeeded, for estimates of later ones.
create table past_run (
  run_id   text        primary key,
  recipe   text        not null,
  -- `1.4` of the version 1.4.2.
  line     text        not null,
  gpu_ms   bigint      not null,
  ended_at timestamptz not null
);
create index past_run_of_recipe on past_run (recipe, line, ended_at desc);
create index past_run_by_age on past_run (ended_at);
