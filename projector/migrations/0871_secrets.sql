-- Read model behind GET /api/secrets: names, never values.
create table secrets (
  owner      text        not null,
  name       text        not null,
  created_at timestamptz not null,
  set_at     timestamptz not null,
  primary key (owner, name)
);
select readable_if('owner = (select caller())', 'secrets');
