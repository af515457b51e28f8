-- What a job was told of its wait when it was submitted, before any correction; null: nothing.
alter table job_state add column foretold_p50_s integer, add column foretold_p90_s integer;

-- Such forecasts and the waits that followed, from which the next ones are corrected.
create table past_wait (
  executor   text             not null,
  p50_s      integer          not null,
  p90_s      integer          not null,
  waited_s   double precision not null,
  started_at timestamptz      not null
);
create index past_wait_of_executor on past_wait (executor, started_at desc);
create index past_wait_by_age on past_wait (started_at);
create index past_run_by_age on past_run (ended_at);
