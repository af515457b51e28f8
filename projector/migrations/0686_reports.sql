-- Read model behind /api/runs/{run_id}/logs: what each run printed and reported, numbered line by line.
create table log_runs (
  run_id           text        primary key,
  next_seq         bigint      not null,
  bytes            bigint      not null,
  truncated        boolean     not null,
  eof_state        text,
  eof_at           timestamptz,
  -- The last row of log_chunks and its size; a short one is extended instead of adding a row.
  tail_seq         bigint,
  tail_bytes       integer     not null,
  -- The hour that is being counted (hours since 1970) and its bytes.
  hour             bigint      not null,
  hour_bytes       bigint      not null,
  -- When the server received the last record, epoch milliseconds.
  last_ms          bigint      not null,
  -- As metric_run.first_offset.
  first_offset     bigint      not null default 0,
  -- The last record of the run among the metrics, as the run's eof names it.
  points_partition integer,
  points_offset    bigint
) with (fillfactor = 80);

create table log_chunks (
  run_id    text   not null,
  first_seq bigint not null,
  body      bytea  not null,
  primary key (run_id, first_seq)
);
-- Bodies come compressed.
alter table log_chunks alter body set storage external;

-- How far each origin of lines was applied: the next byte of an output, or the last seq of a producer.
create table log_sources (
  run_id     text   not null,
  source     text   not null,
  taken      bigint not null,
  -- The beginning of a line whose end has not come yet.
  unfinished bytea  not null,
  primary key (run_id, source)
) with (fillfactor = 80);

-- Whether every point of a run that the log held at its eof is in the tables. Checkpoints belong to nobody.
create function points_are_in(the_run text) returns boolean language sql stable security definer
begin atomic
  select not exists (
    select from log_runs r
     where r.run_id = the_run and r.points_offset is not null
       and not exists (select from projection_checkpoint c
                        where c.projection = 'metrics' and c.partition = r.points_partition
                          and c.next_offset > r.points_offset));
end;

-- Read models behind /api/runs/{run_id}/validation.

-- One row for each run with validation rounds; samples counts those of all its chunks.
create table validation_runs (
  run_id       text   primary key,
  samples      bigint not null,
  first_offset bigint not null
) with (fillfactor = 80);

-- The newest report of each chunk, by the offset of its record.
create table validation_chunks (
  run_id        text             not null,
  step          bigint           not null,
  chunk_index   integer          not null,
  total_chunks  integer          not null,
  log_offset    bigint           not null,
  avg_reward    double precision,
  accuracy      double precision,
  samples       integer          not null,
  -- Of the finite rewards.
  rewards       integer          not null,
  reward_sum    double precision not null,
  reward_min    double precision,
  reward_max    double precision,
  received_at   timestamptz      not null,
  primary key (run_id, step, chunk_index)
);

-- Never changed: a chunk that is sent again has rows of another offset, and the earlier ones are deleted.
create table validation_samples (
  run_id      text             not null,
  log_offset  bigint           not null,
  index       integer          not null,
  step        bigint           not null,
  chunk_index integer          not null,
  sample_key  text,
  reward      double precision,
  -- Of the texts, approximately, so that a page can be cut before they are read.
  bytes       integer          not null,
  "user"      text,
  assistant   text,
  -- Not jsonb, which would change what was reported.
  env         json,
  extra       json,
  primary key (run_id, log_offset, index)
);
create index validation_samples_by_step on validation_samples (run_id, step, chunk_index, index);
create index validation_samples_by_prompt on validation_samples (run_id, sample_key, step)
  where sample_key is not null;

-- Read model behind /api/runs/{run_id}/hardware: what the machines of each run measured of themselves.
create table hardware_runs (
  run_id       text    primary key,
  -- Of the first record of the run on its topic, for a rebuild.
  first_offset bigint  not null,
  -- Points of sources beyond the most that are stored separately.
  dropped      bigint  not null
);

-- A GPU or a machine, as one process reported it. Numbered within the run, in order of arrival.
create table hardware_sources (
  run_id  text    not null,
  source  integer not null,
  node    text,
  rank    integer,
  scope   text    not null,
  index   integer,
  uuid    text,
  -- The names of what it reported; a reading is at the position of its name.
  keys    text[]  not null,
  primary key (run_id, source)
);

create table hardware_points (
  run_id   text     not null,
  source   integer  not null,
  -- By the clock of the machine, epoch milliseconds.
  ts       bigint   not null,
  readings float8[] not null,
  throttle text[],
  xid      integer,
  primary key (run_id, source, ts)
);
-- Finds the old among the many; rows are added in about the order of time.
create index hardware_points_old on hardware_points using brin (ts);

-- Samples of machines older than two weeks: the mean of each reading over five minutes. A separate table, because a late sample
-- of the same time must not replace a mean.
create table hardware_means (
  run_id   text     not null,
  source   integer  not null,
  -- The beginning of the five minutes, epoch milliseconds.
  ts       bigint   not null,
  readings float8[] not null,
  -- The number of values in each mean, so that late ones count for as much.
  counts   integer[] not null,
  throttle text[],
  xid      integer,
  primary key (run_id, source, ts)
);

create view hardware_readings with (security_invoker = true) as
  select run_id, source, ts, readings, throttle, xid from hardware_points
  union all
  select run_id, source, ts, readings, throttle, xid from hardware_means;

select readable_with_run('log_runs', 'log_chunks', 'log_sources', 'validation_runs', 'validation_chunks',
                         'validation_samples', 'hardware_runs', 'hardware_sources', 'hardware_points', 'hardware_means');
