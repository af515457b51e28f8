-- Sign-ins that began where no browser is and wait for a person's word (RFC 8628). Rows outlive their code
-- by a day, so that its page can say what became of it.
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
  -- The session in which it was approved or denied: where it has ended, so has the approval.
  sid           text        references session on delete set null,
  polled_at     timestamptz,                   -- the last poll that kept the pace
  interval_s    integer     not null default 5 -- between polls; 10 after one that came too soon
);
create index device_code_by_expiry on device_code (expires_at);

-- User codes that are not there, asked for by a signed-in person within the minute that began then.
create table device_guess (
  username text        primary key references person on delete cascade,
  began_at timestamptz not null,
  guesses  integer     not null
);
