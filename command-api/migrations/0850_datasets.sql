-- What rules about datasets need that span streams: who sees and uses one, what jobs name, and where its files are.
create table write.dataset (
  owner      text not null,
  name       text not null,
  visibility text not null,
  -- Who uses it if it is public: 'everybody', or only people with that grant.
  use_by     text not null,
  primary key (owner, name)
);

create table write.dataset_grant (
  owner    text    not null,
  name     text    not null,
  username text    not null,
  may_see  boolean not null,
  may_use  boolean not null,
  primary key (owner, name, username)
);

create table write.dataset_version (
  owner      text    not null,
  name       text    not null,
  version    integer not null,
  digest     text    not null,
  state      text    not null,
  -- {name, sha256, size_bytes, split} of each file, by name.
  files      jsonb   not null,
  -- The names of its splits; null until it is ready.
  splits     text[],
  deleted_at timestamptz,
  primary key (owner, name, version)
);
