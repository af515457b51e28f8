-- How a job that is a replica of a revision serves (schemas/replicas.ts); null for all others.
alter table job_state add column serving jsonb;
