-- One row for each run, whether a job made it or not: what reports are checked against.
create table run_state (
  run_id     text        primary key,
  owner      text        not null,
  project    text        not null,
  source     text        not null check (source in ('job', 'external')),
  -- What running code is asked to do, told in the answers to its reports.
  control    text        not null default 'none'
             check (control in ('none', 'checkpoint_and_exit', 'exit')),
  -- The terminal event; reports are taken for 15 minutes after it.
  ended_at   timestamptz,
  end_state  text,
  -- To the minute; a run without a job that is silent for a day is given up.
  last_report_at timestamptz,
  -- When the log is to be closed, once everything printed is on it; and when that was done.
  eof_due_at     timestamptz,
  eof_sent_at    timestamptz
);
create index run_log_to_close on run_state (eof_due_at) where eof_sent_at is null;
create index run_that_may_be_silent on run_state (last_report_at)
 where source = 'external' and ended_at is null;

-- Projects by name; the first to submit to one owns it.
create table project (
  name       text        primary key,
  owner      text        not null,
  visibility text        not null check (visibility in ('private', 'internal')),
  -- The number of the newest short id `<project>-<n>`.
  last_short integer     not null default 0,
  created_at timestamptz not null
);

create table project_member (
  project  text not null references project,
  username text not null,
  role     text not null check (role in ('viewer', 'member', 'maintainer')),
  primary key (project, username)
);
