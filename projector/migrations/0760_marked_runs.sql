-- The notes of a run are one column: those written last, by a person, the JobSpec or MLflow's clients.
update runs set notes = n.notes from run_notes n where n.run_id = runs.run_id;
drop table run_notes;

-- Few runs are starred or archived, so that lists of these are short.
create index runs_starred on runs (created_at desc, run_id desc) where starred;
create index runs_archived on runs (created_at desc, run_id desc) where archived;
