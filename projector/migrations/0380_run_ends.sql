-- How each run ended: what its code reported, and what was seen of its process. Apart from `runs`, whose rows lists read:
-- a message has up to 6,000 characters.
create table run_ends (
  run_id     text primary key,
  end_reason text,
  exit_code  integer,
  signal     text,
  message    text
);

create policy readable on run_ends for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = run_ends.run_id) then true end is not null);
alter table run_ends enable row level security;

-- Of the runs that have ended already, as their events tell it.
insert into run_ends (run_id, end_reason, exit_code, signal, message)
select r.run_id, case e.type when 'run.failed' then 'reported' when 'run.stopped' then 'user' else e.data ->> 'reason' end,
       coalesce((e.data ->> 'exit_code')::integer, x.exit_code), x.signal,
       coalesce(e.data ->> 'message', case e.type when 'run.stopped' then e.data ->> 'reason' end)
  from runs r
  join lateral (
    select type, data from write.event
     where stream = case r.source when 'job' then 'job-' else 'run-' end || r.run_id
       and type in ('run.succeeded', 'run.failed', 'run.stopped', 'job.succeeded', 'job.failed', 'job.stopped')
     order by stream_version desc limit 1) e on true
  left join lateral (
    select (data ->> 'exit_code')::integer as exit_code, data ->> 'signal' as signal from write.event
     where stream = 'job-' || r.run_id and type = 'job.exited' and data -> 'attempt' = e.data -> 'attempt') x on true
 where r.ended_at is not null;
