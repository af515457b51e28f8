-- Sign-ins that began where there is no browser and wait for a person's approval (RFC 8628). Rows outlive their code by a day,
-- so that its page can show what became of it.
create table device_code (
  device_id     text        primary key,
  device_sha256 bytea       not null unique,   -- of the device_code, which only the asking program has
  user_code     text        not null unique,   -- BCDF-GHJK
  requested_ip  text        not null,
  user_agent    text        not null,
  requested_at  timestamptz not null,
  expires_at    timestamptz not null,
  state         text        not null default 'pending'
                check (state in ('pending', 'approved', 'denied', 'consumed')),
  -- The session in which it was approved or denied: once that has ended, so has the approval.
  sid           text        references session on delete set null,
  polled_at     timestamptz,                    -- the last poll that kept the pace
  interval_s    integer     not null default 5, -- between polls; 10 after one that came too soon
  network       text        not null default ''
);
create index device_code_by_expiry on device_code (expires_at);
-- Pending codes are limited, in all and for each network.
create index device_code_pending on device_code (requested_at) where state = 'pending';
create index device_code_pending_of_network on device_code (network, requested_at) where state = 'pending';

-- Unknown user codes, asked for by a signed-in person within the minute that began then.
create table device_guess (
  username text        primary key references person on delete cascade,
  began_at timestamptz not null,
  guesses  integer     not null
);
