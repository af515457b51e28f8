-- What rules about RL environments need that span streams: who sees one, what jobs name, and where its files are.
create table write.rl_environment (
  owner      text not null,
  name       text not null,
  visibility text not null,
  primary key (owner, name)
);

create table write.rl_environment_version (
  owner            text    not null,
  name             text    not null,
  version          text    not null,
  digest           text    not null,
  state            text    not null,
  archive_sha256   text    not null,
  archive_bytes    bigint  not null,
  -- What rules and runs need of its manifest: {entry, args_schema, args_default, secrets_required, has_requirements}.
  manifest         jsonb   not null,
  deleted_at       timestamptz,
  primary key (owner, name, version)
);
