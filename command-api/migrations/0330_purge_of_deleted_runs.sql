-- Runs that were deleted before deletions had a duty that makes them final.
insert into duty (duty_id, reactor, cause, event_id, request_id, payload, created_at, due_at)
select gen_random_uuid(), 'purge-runs', e.stream, e.event_id, e.meta ->> 'request_id',
       jsonb_build_object('run_id', r.run_id, 'restorable_until', e.data ->> 'restorable_until'),
       e.occurred_at, (e.data ->> 'restorable_until')::timestamptz
  from run_state r
  cross join lateral (select * from event where stream = 'run-' || r.run_id and type = 'run.deleted'
                       order by stream_version desc limit 1) e
 where r.deleted_at is not null;
