-- Files that people send, from the address they are given until nobody needs them any more.
create table upload (
  upload_id      text        primary key,
  owner          text        not null,
  purpose        text        not null,
  filename       text        not null,
  content_type   text        not null,
  size_bytes     bigint      not null check (size_bytes > 0),
  sha256         text,                   -- as announced; once registered, of what is here
  created_at     timestamptz not null,
  -- When somebody last asked for it, registered it or submitted a job with it.
  used_at        timestamptz not null,
  completed_at   timestamptz,            -- null: not registered
  -- What the archive of a package holds; `sensitive` names files that no package may hold.
  files          integer,
  expanded_bytes bigint,
  sensitive      text[]      not null default '{}'
);
create index upload_of_owner on upload (owner, sha256);
create index upload_by_content on upload (sha256) where completed_at is not null;
create index upload_by_use on upload (used_at);

-- The package of a job.
alter table job_state add column upload_id text;
create index job_with_upload on job_state (upload_id) where upload_id is not null;
