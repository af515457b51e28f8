-- What rules about models need that span streams: who may act on one, what its references name, what protects artifacts.
create table model (
  name text primary key,
  project text not null,
  owner text not null,
  deleted_at timestamptz
);

create table model_version (
  model text not null references model,
  version integer not null,
  artifact_id text not null,
  run_id text not null,
  is_archived boolean not null default false,
  primary key (model, version)
);
create index model_version_of_artifact on model_version (artifact_id);

create table model_alias (
  model text not null references model,
  alias text not null,
  version integer not null,
  primary key (model, alias)
);
