-- Cached scores of rubrics (docs/use/validation.md). They are no events: whatever judged once can judge again.
create table rubric_score_version (
  owner      text    not null,
  name       text    not null,
  version    integer not null,
  scores     integer not null,  -- rows of rubric_score
  -- When the next version was written; the rows are deleted some time later.
  retired_at timestamptz,
  primary key (owner, name, version)
);
create index rubric_score_retired on rubric_score_version (retired_at) where retired_at is not null;

create table rubric_score (
  owner     text             not null,
  name      text             not null,
  version   integer          not null,
  judge     text             not null,
  sample    text             not null,  -- digest of what was judged
  score     double precision not null,
  criteria  jsonb            not null,
  scored_at timestamptz      not null,
  primary key (owner, name, version, judge, sample)
);
