-- Calls counted for each limit and client. Not worth a write-ahead log: after a crash of PostgreSQL the minute starts again.
-- The columns are those of rate-limiter-flexible.
create unlogged table rate_limit (
  key    varchar(255) primary key,  -- limit and client
  points integer      not null default 0,
  expire bigint                     -- end of the window, in milliseconds since 1970
);

-- Accounts with wrong passwords, known or not, by the hash of the name. Not worth a write-ahead log: after a crash of
-- PostgreSQL the quarter of an hour starts again.
create unlogged table sign_in_delay (
  account_sha256 bytea       primary key,
  began_at       timestamptz not null,   -- of the quarter of an hour
  failures       integer     not null,   -- including attempts in progress
  next_at        timestamptz not null    -- earlier than this, no attempt is examined
);
create index sign_in_delay_by_start on sign_in_delay (began_at);
comment on column sign_in_delay.account_sha256 is
  'hash of what is counted: a name, a name at a network of that person, or a session that changes its password';

-- Networks from which people have signed in with their password, the newest few of each person: failures from elsewhere do not
-- delay attempts from there. Logged, unlike the delays: a crash must not make known networks strange again.
create table sign_in_network (
  username text        not null references person,
  network  text        not null,        -- an IPv4 address, or an IPv6 /56
  last_at  timestamptz not null,
  primary key (username, network)
);

-- Failed sign-ins that are not yet events: one row for each account, or address without one, and minute.
create table failed_login (
  minute     timestamptz not null,
  is_account boolean     not null,
  subject    text        not null,
  count      integer     not null,
  primary key (minute, is_account, subject)
);
