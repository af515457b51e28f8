-- Read model behind /api/notifications/mutes: the kinds, runs and projects that people muted. Disposable: drop, recreate, replay.
create table notification_mutes (
  username text        not null,
  what     text        not null,  -- kind:job_failed, run:run_01…, project:vision
  since    timestamptz not null,
  primary key (username, what)
);
select readable_if('username = (select caller())', 'notification_mutes');
