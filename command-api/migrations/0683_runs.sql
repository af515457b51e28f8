-- One row for each run, with a job or without: reports are checked against it.
create table run_state (
  run_id                 text        primary key,
  owner                  text        not null,
  project                text        not null,
  source                 text        not null check (source in ('job', 'external')),
  -- What running code is asked to do, in the responses to its reports.
  control                text        not null default 'none'
                         check (control in ('none', 'checkpoint_and_exit', 'exit')),
  -- The terminal event; reports are accepted for 15 minutes after it.
  ended_at               timestamptz,
  end_state              text,
  -- To the minute; a run without a job that is silent for a day is given up.
  last_report_at         timestamptz,
  -- When the log is to be closed, once everything printed is on it; and when that was done.
  eof_due_at             timestamptz,
  eof_sent_at            timestamptz,
  short_id               text        unique,
  -- Including repeated ones with other facts: each is an event, which is kept forever.
  artifact_registrations integer     not null default 0,
  -- A deleted run is hidden from everything but its restoring.
  deleted_at             timestamptz
);
create index run_log_to_close on run_state (eof_due_at) where eof_sent_at is null;
create index run_that_may_be_silent on run_state (last_report_at)
 where source = 'external' and ended_at is null;

-- How many runs without a job each person has begun and not ended. A counter, because counting thousands of rows at each creation
-- would be slow; and its row makes creations of one person wait for each other, so that none exceeds the limit.
create table unfinished_runs (
  owner text    primary key,
  runs  integer not null
);

-- A trigger, so that nothing that ends or removes a run can forget it.
create function count_unfinished_runs() returns trigger language plpgsql as $$
begin
  insert into write.unfinished_runs as u (owner, runs) values (coalesce(new.owner, old.owner), tg_argv[0]::integer)
      on conflict (owner) do update set runs = u.runs + excluded.runs;
  return null;
end $$;
create trigger run_begins after insert on run_state
  for each row when (new.source = 'external' and new.ended_at is null) execute function count_unfinished_runs('1');
create trigger run_ends after update of ended_at on run_state
  for each row when (new.source = 'external' and old.ended_at is null and new.ended_at is not null)
  execute function count_unfinished_runs('-1');
create trigger run_begins_again after update of ended_at on run_state
  for each row when (new.source = 'external' and old.ended_at is not null and new.ended_at is null)
  execute function count_unfinished_runs('1');
create trigger run_is_removed after delete on run_state
  for each row when (old.source = 'external' and old.ended_at is null) execute function count_unfinished_runs('-1');

-- One row for each validation round of a run: the number of chunks in its first report, and which of them are on the log
-- (bit n: chunk n). So a report with another number is refused by every process.
create table validation_round (
  run_id       text    not null,
  step         bigint  not null,
  total_chunks integer not null,
  received     bytea   not null,
  primary key (run_id, step)
);

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

-- Observations of unfinished runs for the rules of alerts that depend on time (docs/use/alerts.md). Followers of the log add
-- theirs; precise to half a minute.
create table alert_watch (
  run_id   text        not null,
  rule     text        not null,
  attempt  integer     not null,
  -- How long the condition has to last.
  for_s    integer     not null,
  -- The first observation of the attempt, the newest one, and the newest that did not meet the condition.
  since    timestamptz not null,
  seen_at  timestamptz not null,
  fine_at  timestamptz,
  primary key (run_id, rule)
) with (fillfactor = 70);

-- The open alerts, changed with their events.
create table alert_open (
  alert_id text        primary key,
  run_id   text        not null,
  rule     text        not null,
  key      text,
  fired_at timestamptz not null
);
create index alert_open_of_run on alert_open (run_id, rule);

-- Diagnoses have integers for ids (specification, "Diagnosis"). A number may be missing: it is drawn before the commit.
create sequence diagnosis_number as integer;
