-- Services of the installation that are asked about jobs, promotions and diagnoses, or told of ends and artifacts. Secrets are
-- sealed (auth/sealing-keys.ts); the former one signs, too, until it ends.
create table write.plugin (
  name          text        primary key,
  plugin_id     text        not null unique,
  url           text        not null,
  hooks         text[]      not null,
  mode          text        not null,
  timeout_ms    integer     not null,
  enabled       boolean     not null,
  secret_prefix text        not null,
  sealed        text        not null,
  former        text,
  former_until  timestamptz,
  set_at        timestamptz not null,
  set_by        text        not null,
  -- A process sends its messages until then.
  sending_until timestamptz not null default '-infinity'
);

-- The last calls of each plugin, trimmed by a schedule.
create table write.plugin_call (
  nth         bigint      generated always as identity primary key,
  plugin_id   text        not null,
  hook        text        not null,
  subject     text        not null,
  at          timestamptz not null,
  ms          integer     not null,
  outcome     text        not null,  -- 'answered', 'refused', 'failed'
  status      integer,
  error       text
);
create index plugin_call_of on write.plugin_call (plugin_id, nth desc);

-- What plugins are still to be told, in the order in which it happened.
create table write.plugin_message (
  nth         bigint      generated always as identity primary key,
  message_id  text        not null unique,
  plugin_id   text        not null,
  hook        text        not null,
  subject     text        not null,
  data        jsonb       not null,
  created_at  timestamptz not null,
  due_at      timestamptz not null,
  attempts    integer     not null default 0,
  is_dead     boolean     not null default false,
  error       text
);
create index plugin_message_next on write.plugin_message (plugin_id, nth) where not is_dead;
