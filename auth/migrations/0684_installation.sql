-- Whether anybody is served at all; every process reads it twice a second. One row.
create table maintenance (
  only_row   boolean     primary key default true check (only_row),
  enabled    boolean     not null default false,
  message    text,
  changed_at timestamptz,
  changed_by text
);
insert into maintenance default values;

-- The key that binds positions of writes to the person who got them. Shared by all processes; it protects nothing that readers
-- of this table could not read anyway. One row.
create table position_key (
  only_row boolean primary key default true check (only_row),
  key      bytea   not null
);

-- The keys that sign access tokens, if the installation has SERVICE_KEYS_SECRET; otherwise they are files. Sealed, so that
-- nobody can sign with a dump or with the right to read this table.
create table signing_key (
  kid       text    primary key,
  sealed    bytea   not null,
  -- False until the event that records the key is committed.
  is_in_use boolean not null default false
);
