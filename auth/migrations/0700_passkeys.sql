-- Passkeys (WebAuthn), with which people sign in without their password. Their private keys never leave the person's devices.
create table passkey (
  passkey_id    text        primary key,        -- names it in addresses
  credential_id bytea       not null unique,    -- names it between browser and server
  username      text        not null references person,
  public_key    bytea       not null,           -- COSE (RFC 9052)
  sign_count    bigint      not null,           -- as last reported; 0 from authenticators that do not count
  name          text        not null,
  created_at    timestamptz not null,
  last_used_at  timestamptz
);
create index passkey_of_person on passkey (username);

-- Random, so that an authenticator learns nothing about its person.
create table passkey_handle (
  username text  primary key references person,
  handle   bytea not null unique
);

-- Challenges in progress, each good for one response.
create table passkey_challenge (
  challenge_sha256 bytea       primary key,
  sid              text,                        -- the session that registers a passkey or confirms itself; null: a sign-in
  expires_at       timestamptz not null
);
create index passkey_challenge_by_expiry on passkey_challenge (expires_at);
