-- The keys that sign access tokens, where an installation has SERVICE_KEYS_SECRET; without it they are files. Sealed, so that
-- neither a dump nor who may read this table can sign.
create table signing_key (
  kid    text    primary key,
  sealed bytea   not null,
  -- False until the event that records the key is committed.
  is_in_use boolean not null default false
);
