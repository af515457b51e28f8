-- Jobs that ended before their ends created a duty to delete the files of the run: this one duty creates the others,
-- a batch at a time (command-api/jobs/earlier-run-files.ts).
insert into duty (duty_id, reactor, cause, request_id, payload, created_at, due_at)
select gen_random_uuid(), 'earlier-run-files', 'migration 70', 'migration 70', '{"after": ""}', now(), now()
 where exists (select from job_state join run_state using (run_id) where ended_at is not null);
