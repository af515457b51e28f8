-- Who used how much of late, for the order of the queue: the attempts of a user that ended since a time, and those that run.
create index gpu_use_by_end on gpu_use (username, ended_at);

-- Of which recipe a job is; null: admitted before this.
alter table job_state add column recipe text;

-- How long attempts held their GPUs, for the forecast of waits. Kept for 90 days.
create table past_hold (
  recipe   text        not null,
  profile  text        not null,
  seconds  float8      not null,
  ended_at timestamptz not null
);
create index past_hold_of_recipe on past_hold (recipe, profile, ended_at desc);
create index past_hold_by_age on past_hold (ended_at);
