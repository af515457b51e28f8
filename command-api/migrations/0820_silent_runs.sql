-- Since when an unfinished run without a job has been silent, and how often it has been.
alter table run_state add column silent_since timestamptz, add column silences integer not null default 0;
create index run_that_may_fall_silent on run_state (last_report_at)
 where source = 'external' and ended_at is null and silent_since is null;
