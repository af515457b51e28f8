-- Read model of metric points. Points arrive in metric_block (one row for each run and flush, appended only) and are moved into
-- metric_chunk (sorted, resolved, compressed) by the compactor. Disposable: rebuilt from the log.

-- Names are shared by all runs: most runs report the same few. Numbers are given by the projection, one above the greatest, so
-- that rows carried over to another generation need no sequence to follow.
create table metric_name (
  key_no integer primary key,
  key    text    not null unique
);
-- The names reveal nothing about which run has which metric.
select readable_if('true', 'metric_name');

-- One row for each run. Its row lock orders the projector and the compactor.
create table metric_run (
  records          bigint  not null,  -- log records applied; also the arrival number of the next one
  points           bigint  not null,  -- points applied, including repeats
  waiting_points   bigint  not null,  -- those in metric_block
  last_received_ms bigint  not null,
  compacted_ms     bigint  not null,  -- when the compactor last processed it, by its clock; 0: never
  run_no           integer not null unique,
  waiting_blocks   integer not null,
  live             boolean not null,  -- its summaries are in metric_latest, otherwise in metric_settled
  inexact          boolean not null,  -- some row of metric_latest is not exact
  run_id           text    primary key,
  -- Where the run begins on the log, so that a rebuild can tell the runs that the log still holds completely from those that it
  -- must carry over.
  first_offset     bigint  not null default 0
) with (fillfactor = 50);
-- No index may hold a column that a flush changes, or each flush would write to every index.
create index metric_run_live on metric_run (run_no) where live;

select readable_with_run('metric_run');

create function asked_run_nos() returns integer[] language sql stable security definer
begin atomic
  select array(select run_no from metric_run where run_id = any (asked_runs()));
end;

create table metric_block (
  first_record bigint  not null,  -- arrival number of the first log record in it
  run_no       integer not null,
  records      integer not null,
  points       integer not null,
  d            bytea   not null,  -- platform/series/run-block.ts
  primary key (run_no, first_record)
);
alter table metric_block alter column d set storage external;
-- Its rows live for minutes: without this, dead ones would wait for a fifth of the table.
alter table metric_block set (
  autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02
);

-- Chunks of one key do not overlap in steps.
create table metric_chunk (
  first_step    bigint           not null,
  last_step     bigint           not null,
  first_ts      bigint           not null,  -- least and greatest time, epoch milliseconds
  max_ts        bigint           not null,
  last_ts       bigint           not null,  -- time of the point at last_step
  first_arrival bigint           not null,  -- least and greatest arrival number of its points
  last_arrival  bigint           not null,
  min           double precision,           -- over finite values; null if there are none
  max           double precision,
  sum           double precision not null,
  last          double precision not null,  -- value at last_step, finite or not
  run_no        integer          not null,
  key_no        integer          not null,
  count         integer          not null,
  nonfinite     integer          not null,
  d             bytea            not null,  -- platform/series/chunk.ts
  primary key (run_no, key_no, first_step)
);
alter table metric_chunk alter column d set storage external;

-- What lists show of a key of a run. Rows of live runs are updated in place with each flush; rows of runs that were silent for a
-- while are moved to metric_settled, which alone has the indexes for sorting.
create table metric_latest (
  first_step bigint           not null,
  last_step  bigint           not null,
  last_ts    bigint           not null,
  count      bigint           not null,  -- distinct steps
  nonfinite  bigint           not null,
  min        double precision,
  max        double precision,
  sum        double precision not null,
  last       double precision not null,  -- value at last_step
  run_no     integer          not null,
  key_no     integer          not null,
  -- A point at or before last_step may replace one that is counted already: until the compactor has looked, count may be too high
  -- and min, max and sum may still include the replaced value.
  exact      boolean          not null,
  primary key (run_no, key_no)
) with (fillfactor = 60);

create table metric_settled (
  first_step bigint           not null,
  last_step  bigint           not null,
  last_ts    bigint           not null,
  count      bigint           not null,
  nonfinite  bigint           not null,
  min        double precision,
  max        double precision,
  sum        double precision not null,
  last       double precision not null,
  run_no     integer          not null,
  key_no     integer          not null,
  exact      boolean          not null,
  primary key (run_no, key_no)
);
-- Run lists sorted by a metric walk one of these. NaN has no place in an order: such rows come last.
create index metric_settled_last on metric_settled (key_no, nullif(last, 'NaN'), run_no);
create index metric_settled_min on metric_settled (key_no, min, run_no);
create index metric_settled_max on metric_settled (key_no, max, run_no);

-- How many keys a run has, and those that lists show: the first 50 by name. Separate from metric_run, whose rows each flush
-- rewrites; this one changes with a new key only.
create table metric_keys (
  run_no integer   primary key,
  keys   integer   not null,
  listed integer[] not null
);

select readable_with_run_no('metric_block', 'metric_chunk', 'metric_latest', 'metric_settled', 'metric_keys');

-- Each key of each run once: a run is in one of the two tables. A view is read as its owner, past row-level security, unless it
-- is declared otherwise.
create view metric_summary with (security_invoker = true) as
  select * from metric_latest union all select * from metric_settled;

-- As readable_runs, which they join: for lists of runs with their metrics.
create view settled_of_runs as
  select m.run_id, s.* from metric_settled s join metric_run m using (run_no) join readable_runs using (run_id);

create view latest_of_runs as
  select m.run_id, s.* from metric_latest s join metric_run m using (run_no) join readable_runs using (run_id);

-- What searches compare of metrics. Admins, to whom no policy applies, need no join with runs here: the search joins with them
-- anyway. A condition that no row changes is decided once, so PostgreSQL runs only half of the union. Lists that are sorted by a
-- metric read settled_of_runs, whose order an index gives.
create view searched_summaries as
  select m.run_id, s.* from metric_settled s join metric_run m using (run_no)
   where (select reads_all('runs'::regclass))
  union all
  select m.run_id, s.* from metric_latest s join metric_run m using (run_no)
   where (select reads_all('runs'::regclass))
  union all
  select * from settled_of_runs where (select not reads_all('runs'::regclass))
  union all
  select * from latest_of_runs where (select not reads_all('runs'::regclass));

-- PostgreSQL refuses a sum beyond the largest double, which would park an acknowledged report. It is clamped there instead, as in
-- platform/series/sum.ts.
create function add_saturated(a double precision, b double precision) returns double precision
language sql immutable parallel safe
return case
  when a > 0 and b >= '1.7976931348623157e308'::double precision - a then '1.7976931348623157e308'::double precision
  when a < 0 and b <= '-1.7976931348623157e308'::double precision - a then '-1.7976931348623157e308'::double precision
  else a + b
end;

create aggregate sum_saturated(double precision) (
  sfunc = add_saturated, stype = double precision, initcond = '0'
);
