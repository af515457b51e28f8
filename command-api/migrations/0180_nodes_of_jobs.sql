alter table job_state add column nodes integer not null default 1;

-- The names of the newest attempt's nodes by rank, as far as they are known.
alter table job_state add column placed_on text[] not null default '{}';
update job_state set placed_on = array[executor] where attempt > 0;

-- Bytes of the newest attempt's output that are on the log, by rank: [{"stdout": 1, "stderr": 2}, …]. The two columns of
-- before stay for processes of the version that knows only them: what they ship meanwhile is shipped again, and dropped.
alter table job_state add column shipped jsonb not null default '[]';
update job_state set shipped = jsonb_build_array(jsonb_build_object('stdout', shipped_stdout, 'stderr', shipped_stderr))
 where is_active;
