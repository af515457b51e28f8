-- Accounts whose passwords were wrong, known or not, by the hash of the name. Not worth a write-ahead log: a crash of
-- Postgres starts the quarter of an hour anew.
create unlogged table sign_in_delay (
  account_sha256 bytea       primary key,
  began_at       timestamptz not null,   -- of the quarter of an hour
  failures       integer     not null,   -- attempts under way included
  next_at        timestamptz not null    -- earlier than this, no attempt is answered
);
create index sign_in_delay_by_start on sign_in_delay (began_at);

-- Failed sign-ins that are not yet events: one row per account, or address without one, and minute.
create table failed_login (
  minute     timestamptz not null,
  is_account boolean     not null,
  subject    text        not null,
  count      integer     not null,
  primary key (minute, is_account, subject)
);

-- Codes that nobody has decided on are bounded, in all and for each network.
alter table device_code add column network text not null default '';
create index device_code_pending on device_code (requested_at) where state = 'pending';
create index device_code_pending_of_network on device_code (network, requested_at) where state = 'pending';
