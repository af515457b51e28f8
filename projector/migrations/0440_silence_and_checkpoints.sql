-- Jobs whose machine is silent, and the checkpoint from which an attempt continues.
alter table jobs add column unreachable_since timestamptz;
alter table job_attempts add column resume_from text;
