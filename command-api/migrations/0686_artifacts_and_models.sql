-- Files that people send, from the address they are given until nobody needs them any more.
create table upload (
  upload_id      text        primary key,
  owner          text        not null,
  purpose        text        not null,
  filename       text        not null,
  content_type   text        not null,
  -- MLflow's clients store whole folders, in which files may be empty.
  size_bytes     bigint      not null check (size_bytes >= 0),
  sha256         text,                   -- as announced; once registered, of the stored bytes
  created_at     timestamptz not null,
  -- When somebody last asked for it, registered it or submitted a job with it.
  used_at        timestamptz not null,
  completed_at   timestamptz,            -- null: not registered
  -- Contents of the archive of a package; `sensitive` names files that no package may contain.
  files          integer,
  expanded_bytes bigint,
  sensitive      text[]      not null default '{}',
  -- If it is sent in parts: the number of bytes of each but the last.
  part_size      bigint
);
create index upload_of_owner on upload (owner, sha256);
create index upload_by_content on upload (sha256) where completed_at is not null;
create index upload_by_use on upload (used_at);

-- One row for each artifact: a run registers a kind, path and step once, however often it reports it.
create table artifact (
  artifact_id   text        primary key,
  run_id        text        not null,
  kind          text        not null,
  path          text        not null,
  -- -1: none was given.
  step          bigint      not null,
  format        text        not null,
  -- Of the first registration: a pause keeps what the checkpoints of its attempt hold.
  registered_at timestamptz not null default now(),
  -- The upload that holds it; null: it is elsewhere, under its path.
  upload_id     text,
  -- Whether the store was found to have lost it; nothing starts from such an artifact.
  is_missing    boolean     not null default false,
  -- Rules of deletion look at the newest registration, and at whether it is in the store.
  metrics       jsonb       not null default '{}',
  size_bytes    bigint,
  sha256        text,
  is_verified   boolean     not null default false,
  -- When its deletion was requested; nothing can start from it any more.
  deleted_at    timestamptz,
  unique (run_id, kind, path, step)
);
create index artifact_by_upload on artifact (upload_id) where upload_id is not null;

-- What rules about models need that span streams: who may act on one, what its references name, what protects artifacts.
create table model (
  name       text primary key,
  project    text not null,
  owner      text not null,
  deleted_at timestamptz
);

create table model_version (
  model       text    not null references model,
  version     integer not null,
  artifact_id text    not null,
  run_id      text    not null,
  is_archived boolean not null default false,
  primary key (model, version)
);
create index model_version_of_artifact on model_version (artifact_id);

create table model_alias (
  model   text    not null references model,
  alias   text    not null,
  version integer not null,
  primary key (model, alias)
);
