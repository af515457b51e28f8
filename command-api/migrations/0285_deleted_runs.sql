-- A deleted run: hidden from everything but its restoring.
alter table run_state add column deleted_at timestamptz;

-- What a job came from, so that deleting a run tells what refers to it.
alter table job_state
  add column init_from text, -- an artifact
  add column retry_of  text, -- runs
  add column clone_of  text;
update job_state j
   set init_from = e.data #>> '{resolved,init_from,artifact_id}',
       retry_of  = e.data #>> '{spec,metadata,labels,retry-of}',
       clone_of  = e.data #>> '{spec,metadata,labels,clone-of}'
  from event e
 where e.stream = 'job-' || j.run_id and e.type = 'job.admitted' and e.stream_version = 1;
create index job_begun_from on job_state (init_from) where init_from is not null;
create index job_repeating on job_state (retry_of) where retry_of is not null;
create index job_copied on job_state (clone_of) where clone_of is not null;
