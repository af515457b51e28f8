-- Tokens of deployments (specification, "Authentication"): accepted by the inference routes of their own deployment alone, until
-- revoked. Only the hash of a token is stored. `epoch` is that of write.serving_epoch in the transaction that changed the row.
create table deployment_token (
  token_id text primary key,
  secret_sha256 bytea not null,
  deployment_id text not null,
  name text not null,
  note text not null,
  created_by text not null,
  created_at timestamptz not null,
  revoked_at timestamptz,
  epoch bigint not null
);
create index on deployment_token (deployment_id);
create index on deployment_token (epoch);
