-- Read model behind GET /api/hub-imports.
create table hub_imports (
  import_id  text        primary key,
  owner      text        not null,
  repo       text        not null,
  commit     text        not null,
  revision   text        not null,
  state      text        not null,
  license    text,
  gated      boolean,
  file_count integer,
  bytes      bigint,
  bytes_done bigint      not null,
  error      text,
  digest     text,
  files      jsonb       not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index hub_imports_newest on hub_imports (owner, created_at desc);
select readable_if('owner = (select caller())', 'hub_imports');
