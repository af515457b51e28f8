-- The last record of a run among the metrics, as the run's eof names it; null in those of before.
alter table log_runs add column points_partition integer, add column points_offset bigint;

-- Whether every point of a run that the log held at its eof is in the tables. Checkpoints are nobody's rows.
create function points_are_in(the_run text) returns boolean language sql stable security definer
begin atomic
  select not exists (
    select from log_runs r
     where r.run_id = the_run and r.points_offset is not null
       and not exists (select from projection_checkpoint c
                        where c.projection = 'metrics' and c.partition = r.points_partition
                          and c.next_offset > r.points_offset));
end;
