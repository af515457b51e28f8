-- What the rules of alerts that look at time need (docs/use/alerts.md): what is observed of each run that goes on. Followers
-- of the log join what they saw to it; precise to half a minute.
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
