-- Read models behind /api/datasets. Disposable: drop, recreate, replay.
create table datasets (
  owner      text        not null,
  name       text        not null,
  visibility text        not null,
  use_by     text        not null,
  license    text,
  card       text        not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (owner, name)
);

-- Who sees and uses a dataset besides whoever may see it anyway.
create table dataset_grants (
  owner      text        not null,
  name       text        not null,
  username   text        not null,
  may_see    boolean     not null,
  may_use    boolean     not null,
  granted_by text        not null,
  granted_at timestamptz not null,
  primary key (owner, name, username)
);
create index dataset_grants_of_person on dataset_grants (username, owner, name);

-- `report`: the result of the validation without what has a column of its own; null before.
create table dataset_versions (
  owner             text        not null,
  name              text        not null,
  version           integer     not null,
  ref               text        not null,
  digest            text        not null,
  state             text        not null,
  format            text,
  kind              text,
  rows              bigint,
  bytes             bigint      not null,
  error_count       bigint,
  tokens            jsonb       not null,
  splits            jsonb       not null,
  schema            jsonb       not null,
  report            jsonb,
  files             jsonb       not null,
  parents           text[]      not null,
  source            jsonb       not null,
  deprecated_reason text,
  created_by        text        not null,
  created_at        timestamptz not null,
  validated_at      timestamptz,
  primary key (owner, name, version)
);
create index dataset_versions_by_parent on dataset_versions using gin (parents);

-- Who used a version.
create index runs_of_dataset on runs using gin (datasets) where datasets <> '{}';

select readable_if('owner = (select caller()) or username = (select caller())', 'dataset_grants');
select readable_where('owner = (select caller()) or (visibility = ''public'' and (select caller()) is not null)
                       or (select true from dataset_grants g
                            where g.owner = <table>.owner and g.name = <table>.name and g.username = (select caller()) and g.may_see)',
                      'datasets');
select readable_where('(select true from datasets d where d.owner = <table>.owner and d.name = <table>.name)', 'dataset_versions');
