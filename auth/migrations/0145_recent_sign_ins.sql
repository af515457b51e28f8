-- When the person of a session last proved who they are: at its sign-in, or in a confirmation since. Dangerous requests need a
-- recent one. The default is for processes of the previous version that still serve during an upgrade.
alter table session add column authenticated_at timestamptz;
update session set authenticated_at = created_at;
alter table session
  alter column authenticated_at set default now(),
  alter column authenticated_at set not null;
