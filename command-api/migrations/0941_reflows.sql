-- Whose captured requests each version made by a reflow has, so that an erasure can name the versions.
create table reflow_taken (
  ref           text not null,
  deployment_id text not null,
  token_id      text not null,
  -- '' if the requests name nobody.
  subject       text not null,
  primary key (ref, deployment_id, token_id, subject)
);
create index reflow_taken_of_subject on reflow_taken (deployment_id, subject);
create index reflow_taken_of_token on reflow_taken (deployment_id, token_id);

-- Requests that began before an erasure are never taken, even if they arrive after it. Either `subject` or `token_id` is ''.
create table reflow_erasure (
  deployment_id text        not null,
  subject       text        not null,
  token_id      text        not null,
  erased_at     timestamptz not null,
  primary key (deployment_id, subject, token_id)
);

create table reflow (
  reflow_id text primary key,
  owner     text not null,
  name      text not null
);
create index reflow_of_owner on reflow (owner);
