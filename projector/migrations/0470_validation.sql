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
  -- Of the texts, about, so that a page can be cut before they are read.
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

do $$
declare t text;
begin
  foreach t in array array['validation_runs', 'validation_chunks', 'validation_samples']
  loop
    execute format(
      'create policy readable on %1$I for select using (
         case when run_id = any ((select asked_runs())::text[])
                or (select true from runs where runs.run_id = %1$I.run_id) then true end is not null)', t);
    execute format('alter table %I enable row level security', t);
  end loop;
end $$;
