-- What the events of a long stream amount to, so that a command reads only those after it. Disposable: it can
-- always be folded again, and one of another shape than the aggregate has now is not read.
create table snapshot (
  stream  text    primary key,
  version integer not null check (version >= 1),  -- of the last event in it
  shape   integer not null,
  state   jsonb   not null
);

-- Answers whose time is over are found by their age.
create index idempotency_by_age on idempotency (created_at);
