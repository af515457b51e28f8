-- Who may call, and with what. Only hashes of secrets are kept (specification, "Authentication").
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

create table session (
  sid        text        primary key,
  username   text        not null references person,
  via        text        not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index session_of_person on session (username) where revoked_at is null;

create table refresh_token (
  secret_sha256 bytea       primary key,
  sid           text        not null references session,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  used_at       timestamptz,
  -- What replaced it: given again to who presents a spent token within 10 seconds.
  successor     bytea
);

create table ingest_token (
  token_id      text        primary key,
  secret_sha256 bytea       not null,
  run_id        text        not null,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  ended_at      timestamptz
);
create index ingest_token_of_run on ingest_token (run_id) where ended_at is null;
