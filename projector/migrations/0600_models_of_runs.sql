-- Which models and deployments came of a run: its lineage.
create index model_versions_of_run on model_versions (run_id);
create index revisions_of_run on deployment_revisions ((source ->> 'run_id'));
