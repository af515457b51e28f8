-- Authenticators of people who sign in with a password (RFC 6238); one for each of them.
create table totp (
  username    text        primary key references person,
  sealed      text        not null,   -- the secret (auth/sealing-keys.ts)
  began_at    timestamptz not null,
  set_up_at   timestamptz,            -- null: its first code is still expected
  wrong_codes integer     not null default 0,   -- next to the right password, since the last sign-in
  last_step   bigint                  -- the time step of the code accepted last; none up to it is accepted again
);

-- Codes that stand in for the authenticator; each row is deleted when its code is used.
create table recovery_code (
  username    text  not null references person,
  code_sha256 bytea not null,       -- of 80 random bits, which nobody can guess from a hash
  primary key (username, code_sha256)
);

create function has_second_factor(whose text) returns boolean language sql stable as
  'select exists (select from auth.totp where username = whose and set_up_at is not null)';
