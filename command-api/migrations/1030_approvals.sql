-- Rules that admission and other gates read, and whom each approval waits for.
create table write.approval_rule (
  name      text    primary key,
  "when"    jsonb   not null,
  who       jsonb   not null,
  expires_h integer not null
);

create table write.approval (
  approval_id  text        primary key,
  subject_type text        not null,
  subject_id   text        not null,
  who          jsonb       not null,
  requested_by text        not null,
  requested_at timestamptz not null
);

-- Requests for a higher quota are limited by person.
create index approval_by_requester on write.approval (requested_by, requested_at) where subject_type = 'quota';
