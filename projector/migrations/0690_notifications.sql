-- Read model behind /api/notifications: what each person was notified of. Disposable: drop, recreate, replay.
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
  -- 1, 2, … over everybody's, renewed at each change of a row: the cursor of the stream.
  change          bigint      not null
) with (fillfactor = 80);
create index notifications_newest on notifications (username, created_at desc, notification_id desc);
create index notifications_unread on notifications (username) where read_at is null;
create index notifications_changed on notifications (change);

select readable_if('username = (select caller())', 'notifications');

-- The newest change, no matter whose: where a stream resumes. It is only a number.
create function newest_notification() returns bigint language sql stable security definer
begin atomic
  select coalesce(max(change), 0) from notifications;
end;
