-- The mark with which the server closes a log counted as a report of the run. When the last one really came is unknown of
-- the logs that are closed; no later than the run's end is nearest.
update log_runs l set last_ms = least(l.last_ms, floor(extract(epoch from r.ended_at) * 1000))
  from runs r
 where r.run_id = l.run_id and l.eof_at is not null and r.ended_at is not null
   and l.last_ms = round(extract(epoch from l.eof_at) * 1000);
