-- Whether the job's events say that nothing is heard of the machine of its newest attempt.
alter table job_state add column is_unreachable boolean not null default false;

-- When each artifact was registered first: a pause keeps what the checkpoints of its attempt hold.
alter table artifact add column registered_at timestamptz not null default now();
update artifact a set registered_at = e.occurred_at
  from event e where e.stream = 'artifact-' || a.artifact_id and e.stream_version = 1;
