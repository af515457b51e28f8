-- Who may call, and with what. Only hashes of secrets are stored (specification, "Authentication").
create table person (
  username      text        primary key,
  role          text        not null check (role in ('admin', 'operator')),
  display_name  text,
  email         text,
  password_hash text,                    -- argon2id, PHC string; null for people of an identity provider
  disabled      boolean     not null default false,
  created_at    timestamptz not null,
  last_login_at timestamptz
);

-- People of an identity provider: who they are there. Never found by name or e-mail address, which change hands.
create table identity (
  issuer    text        not null,
  subject   text        not null,
  username  text        not null references person,
  linked_at timestamptz not null,
  primary key (issuer, subject)
);
create index identity_of_person on identity (username);

-- Sign-ins in progress at the provider, each good for one response. What the response must match is derived from the browser's
-- cookie, of which only the hash is here.
create table oidc_flow (
  flow_sha256 bytea       primary key,
  return_to   text        not null,   -- a path of this server
  expires_at  timestamptz not null
);
create index oidc_flow_by_expiry on oidc_flow (expires_at);

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
