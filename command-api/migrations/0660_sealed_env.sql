-- The values of `env` that look like secrets, sealed for this job under a key that is not in plain text in the database
-- (jobs/sealed-env.ts); `env` keeps the others. Earlier rows are sealed when a server of this version starts.
alter table job_state add column sealed_env text;
