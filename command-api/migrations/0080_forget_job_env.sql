-- From now on the values go with the end of the job (save_job_state); those of jobs that have ended go here.
update job_state set env = '{}' where state in ('succeeded', 'failed', 'stopped') and env <> '{}';
