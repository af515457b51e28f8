-- Who may talk to which engines with an access token, and until when. Gateways read it with each request to a session.
create table playground_session (
  session_id     text        primary key,
  username       text        not null,
  deployment_id  text        not null,
  -- Its deployment was made for it, and is deleted with it.
  owns           boolean     not null,
  artifact_id    text,
  revision_id    text,
  model          text,
  params         jsonb       not null,
  idle_timeout_s integer     not null,
  max_lifetime_s integer     not null,
  created_at     timestamptz not null,
  -- Written at most every ten seconds.
  last_used_at   timestamptz not null,
  expires_at     timestamptz not null,
  ended_at       timestamptz,
  ended_as       text check (ended_as in ('closed', 'expired', 'failed')),
  end_reason     text
);
create index playground_of_person on playground_session (username, created_at desc);
create index playground_open on playground_session (expires_at) where ended_at is null;
create index playground_ended on playground_session (ended_at);
create index playground_to_clear on playground_session (deployment_id) where owns;
