-- Networks from which people have signed in with their password, the newest few of each person: failures from elsewhere do
-- not hold attempts from there. Logged, unlike the delays, because a crash must not open this door to strangers again.
create table sign_in_network (
  username text        not null references person,
  network  text        not null,        -- an IPv4 address, or an IPv6 /56
  last_at  timestamptz not null,
  primary key (username, network)
);

comment on column sign_in_delay.account_sha256 is
  'hash of what is counted: a name, a name at a network of that person, or a session that changes its password';
