-- People of an identity provider: who they are there. Never found by name or e-mail address, which change hands.
create table identity (
  issuer    text        not null,
  subject   text        not null,
  username  text        not null references person,
  linked_at timestamptz not null,
  primary key (issuer, subject)
);
create index identity_of_person on identity (username);

-- Sign-ins that are under way at the provider, each good for one answer. What the answer must match is derived
-- from the browser's cookie, of which only the hash is here.
create table oidc_flow (
  flow_sha256 bytea       primary key,
  return_to   text        not null,   -- a path of this server
  expires_at  timestamptz not null
);
create index oidc_flow_by_expiry on oidc_flow (expires_at);
