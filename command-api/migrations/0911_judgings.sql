-- The judging of validation samples by deployments (docs/use/validation.md). Scores are in rubric_score; the texts there are deleted with
-- the scores, once the rubric has another version.
alter table write.rubric_score add column reason text;

create table write.judging (
  judging_id    text        primary key,
  run_id        text        not null,
  step          bigint      not null,
  rubric_owner  text        not null,
  rubric        text        not null,
  version       integer     not null,
  deployment_id text        not null,
  revision_id   text        not null,
  username      text        not null,
  state         text        not null check (state in ('running', 'succeeded', 'failed')),
  reason        text,
  samples       integer,  -- how many there are to judge; null before the first was read
  created_at    timestamptz not null,
  ended_at      timestamptz
);
create index judging_of_run on write.judging (run_id, step, created_at desc);
-- Two at once would ask twice for the same scores.
create unique index judging_open on write.judging (run_id, step, rubric_owner, rubric, revision_id) where state = 'running';

-- What became of each sample. A killed process leaves some without a row, and the next one continues with those.
create table write.judgement (
  judging_id text not null references write.judging on delete cascade,
  sample_id  text not null,
  sample     text not null,  -- digest of what is judged
  outcome    text not null check (outcome in ('scored', 'cached', 'failed')),
  error      text,
  primary key (judging_id, sample_id)
);
