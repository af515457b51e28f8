-- Read model behind /api/notifications: what each person was told. Disposable: drop, recreate, replay.
create table notifications (
  notification_id text        primary key,
  username        text        not null,
  kind            text        not null,
  level           text        not null,
  title           text        not null,
  body            text        not null,
  target          jsonb,
  url             text,
  actor           text        not null,
  group_key       text        not null,
  count           integer     not null,
  created_at      timestamptz not null,  -- of the newest of its count
  read_at         timestamptz,
  -- 1, 2, … over everybody's, anew at each change of a row: the cursor of the stream.
  change          bigint      not null
) with (fillfactor = 80);
create index notifications_newest on notifications (username, created_at desc, notification_id desc);
create index notifications_unread on notifications (username) where read_at is null;
create index notifications_changed on notifications (change);

-- Row-level security (0300_row_security.sql): everybody reads their own alone.
create policy readable on notifications for select using (username = (select caller()));
alter table notifications enable row level security;

-- The newest change, no matter whose: where a stream goes on from. It tells a number and nothing else.
create function newest_notification() returns bigint language sql stable security definer
begin atomic
  select coalesce(max(change), 0) from notifications;
end;
