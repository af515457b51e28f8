-- What deletes artifacts by rules needs: what each was registered with last, and whether it is in the store.
alter table artifact
  add column metrics     jsonb   not null default '{}',
  add column size_bytes  bigint,
  add column sha256      text,
  add column is_verified boolean not null default false,
  -- When its deletion was asked for; nothing can start from it any more.
  add column deleted_at  timestamptz;
update artifact a
   set metrics = e.data -> 'metrics', size_bytes = (e.data ->> 'size_bytes')::bigint, sha256 = e.data ->> 'sha256'
  from event e
 where e.stream = 'artifact-' || a.artifact_id and e.type = 'artifact.registered'
   and e.stream_version = (select max(stream_version) from event o where o.stream = e.stream and o.type = e.type);
update artifact a set is_verified = true
  from event e
 where e.stream = 'artifact-' || a.artifact_id and e.type = 'artifact.verified'
   and e.stream_version = (select max(stream_version) from event o where o.stream = e.stream);

-- The checkpoint that the newest attempt of a job continues from.
alter table job_state add column resume_from text;
update job_state j set resume_from = e.data ->> 'artifact_id'
  from event e
 where e.stream = 'job-' || j.run_id and e.type = 'job.checkpoint_chosen' and (e.data ->> 'attempt')::int = j.attempt;
create index job_continuing on job_state (resume_from) where resume_from is not null;
