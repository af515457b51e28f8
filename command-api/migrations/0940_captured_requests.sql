-- Requests and responses of tokens that capture, until retention or an erasure deletes them (docs/use/reflow.md).
create table captured_request (
  -- The order of arrival. Writers share an advisory lock, which a firing takes alone: nothing appears behind a number that it has seen.
  seq           bigint      generated always as identity primary key,
  request_id    text        not null unique,
  deployment_id text        not null,
  token_id      text        not null,
  -- Who the request says it is from, as a keyed hash; null if it names nobody.
  subject       text,
  started_at    timestamptz not null,
  -- Request, response and facts, sealed for this request.
  sealed        text        not null
);
create index captured_request_of_deployment on captured_request (deployment_id, seq);
create index captured_request_of_subject on captured_request (deployment_id, subject) where subject is not null;
create index captured_request_by_age on captured_request (started_at);

-- What could not be kept.
create table captured_drop (
  deployment_id text        primary key,
  dropped       bigint      not null,
  dropped_at    timestamptz not null
);
