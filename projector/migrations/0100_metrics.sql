-- Read model of metric points. Points arrive in metric_block (one row a run and flush, appended only) and are
-- moved into metric_chunk (sorted, resolved, compressed) by the compactor. Disposable: rebuilt from the log.

-- Names are shared by all runs: most runs report the same few. Numbers are given by the projection, one above
-- the greatest, so that rows carried over to another generation need no sequence to follow.
create table metric_name (
  key_no integer primary key,
  key    text    not null unique
);

-- One row a run. Its row lock orders the projector and the compactor.
create table metric_run (
  records          bigint  not null,  -- log records taken; also the arrival number of the next one
  points           bigint  not null,  -- points taken, repeats included
  waiting_points   bigint  not null,  -- those in metric_block
  last_received_ms bigint  not null,
  compacted_ms     bigint  not null,  -- when the compactor last took it, by its clock; 0: never
  run_no           integer not null unique,
  waiting_blocks   integer not null,
  live             boolean not null,  -- its summaries are in metric_latest, otherwise in metric_settled
  inexact          boolean not null,  -- some row of metric_latest is not exact
  run_id           text    primary key
) with (fillfactor = 50);
-- No index may hold a column that a flush changes, or each flush would write to every index.
create index metric_run_live on metric_run (run_no) where live;

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
  min           double precision,           -- over finite values; null where there are none
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

-- What lists show of a key of a run. Rows of live runs are updated in place with each flush; rows of runs that
-- were silent for a while are moved to metric_settled, which alone carries the indexes for sorting.
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
  -- A point at or before last_step may replace one that is counted already: until the compactor has looked,
  -- count may be too high and min, max and sum may still hold the replaced value.
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

-- Each key of each run once: a run is in one of the two tables.
create view metric_summary as
  select * from metric_latest union all select * from metric_settled;
