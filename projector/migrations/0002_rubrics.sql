-- Read model behind /api/rubrics: the newest version of each. Disposable: drop, recreate, replay.
create table rubrics (
  owner       text             not null,
  name        text             not null,
  criteria    jsonb            not null,
  description text             not null,
  scale_min   double precision not null,
  scale_max   double precision not null,
  visibility  text             not null,
  version     integer          not null check (version >= 1),
  digest      text             not null,
  created_at  timestamptz      not null,
  updated_at  timestamptz      not null,
  updated_by  text             not null,
  primary key (owner, name)
);
