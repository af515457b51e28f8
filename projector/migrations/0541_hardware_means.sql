-- Samples of machines older than two weeks: the mean of each reading over five minutes. A table of its own, because a
-- late sample of the same time must not replace a mean.
create table hardware_means (
  run_id   text     not null,
  source   integer  not null,
  -- The beginning of the five minutes, epoch milliseconds.
  ts       bigint   not null,
  readings float8[] not null,
  -- Of how many values each reading is the mean, so that late ones count for as much.
  counts   integer[] not null,
  throttle text[],
  xid      integer,
  primary key (run_id, source, ts)
);
create policy readable on hardware_means for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = hardware_means.run_id) then true end is not null);
alter table hardware_means enable row level security;

-- Finds the old among the many; rows are added in about the order of time.
create index hardware_points_old on hardware_points using brin (ts);

create view hardware_readings with (security_invoker = true) as
  select run_id, source, ts, readings, throttle, xid from hardware_points
  union all
  select run_id, source, ts, readings, throttle, xid from hardware_means;
