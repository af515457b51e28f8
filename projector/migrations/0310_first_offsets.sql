-- Where each run begins on the log, so that a rebuild can tell the runs that the log still holds whole from those
-- that it must carry over. 0 for the runs that are older than this column: they are carried over once anything of
-- their partition is gone.
alter table metric_run add column first_offset bigint not null default 0;
alter table log_runs add column first_offset bigint not null default 0;
