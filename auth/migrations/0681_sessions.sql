-- Sessions are deleted a day after their end, together with their refresh tokens.
create table session (
  sid              text        primary key,
  username         text        not null references person,
  via              text        not null,
  created_at       timestamptz not null,
  expires_at       timestamptz not null,
  revoked_at       timestamptz,
  -- By these people tell their own sessions apart.
  last_used_at     timestamptz,
  user_agent       text,
  -- The identity provider's refresh token, sealed (auth/provider-token.ts).
  provider_token   bytea,
  -- When the provider last vouched for the person and their role, and when it was last asked.
  confirmed_at     timestamptz,
  asked_at         timestamptz,
  -- When the person last proved who they are, at sign-in or in a confirmation since: dangerous requests need a recent proof.
  authenticated_at timestamptz not null default now()
);
create index session_of_person on session (username) where revoked_at is null;
create index session_by_end on session (expires_at);

create table refresh_token (
  secret_sha256  bytea       primary key,
  sid            text        not null references session on delete cascade,
  created_at     timestamptz not null,
  expires_at     timestamptz not null,
  used_at        timestamptz,
  -- With this and a used token, of which only the hash is stored, its successor can be computed again.
  successor_salt bytea
);
create index refresh_token_of_session on refresh_token (sid);

create table ingest_token (
  token_id      text        primary key,
  secret_sha256 bytea       not null,
  run_id        text        not null,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  ended_at      timestamptz
);
create index ingest_token_of_run on ingest_token (run_id) where ended_at is null;

-- Tokens of deployments: accepted by the inference routes of their own deployment alone, until revoked. `epoch` is that of
-- write.serving_epoch in the transaction that changed the row.
create table deployment_token (
  token_id      text        primary key,
  secret_sha256 bytea       not null,
  deployment_id text        not null,
  name          text        not null,
  note          text        not null,
  created_by    text        not null,
  created_at    timestamptz not null,
  revoked_at    timestamptz,
  epoch         bigint      not null
);
create index on deployment_token (deployment_id);
create index on deployment_token (epoch);
