-- The upload that holds an artifact; null: it lies elsewhere, under its path.
alter table artifact add column upload_id text;
create index artifact_by_upload on artifact (upload_id) where upload_id is not null;
-- Whether the store was found to have lost it; nothing starts from such an artifact.
alter table artifact add column is_missing boolean not null default false;
