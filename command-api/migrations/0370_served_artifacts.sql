-- What protects an artifact from deletion, besides versions of models and runs that began from it.
create index revision_of_artifact on revision_state ((source ->> 'artifact_id'));
