-- What Forge does because of an event (docs/contribute/effects.md). These rows are next to the events and not in the read
-- models: a rebuild neither repeats nor forgets an effect.
create table duty (
  duty_id      uuid        primary key,          -- hash of the cause and the reactor: a repeat inserts nothing
  reactor      text        not null,
  cause        text        not null,             -- the event's stream, or `schedule <name>`
  event_id     uuid,                             -- null for a slot of a schedule
  request_id   text        not null,
  payload      jsonb       not null,
  created_at   timestamptz not null,
  due_at       timestamptz not null,             -- when it may be performed next; moves with each failure
  attempts     integer     not null default 0,   -- since it was created or last retried by a person
  lease        integer     not null default 0,   -- only the newest lease may close the duty
  leased_until timestamptz,
  last_error   text,
  done_at      timestamptz,
  dropped      boolean     not null default false,  -- closed by a person instead of being performed
  parked_at    timestamptz,                      -- given up after the reactor's limit; a person decides
  check (done_at is null or parked_at is null)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Leasing walks only open duties, each reactor from its oldest; millions of done ones cost it nothing.
create index duty_open on duty (reactor, due_at, duty_id) where done_at is null and parked_at is null;
create index duty_parked on duty (parked_at, duty_id) where parked_at is not null;
create index duty_done on duty (done_at, duty_id) where done_at is not null;

-- How far each follower has read; moved by compare-and-set in the transaction that records its decision.
create table follower (
  follower    text    not null,
  topic       text    not null,
  partition   integer not null,
  next_offset bigint  not null,
  primary key (follower, topic, partition)
);

-- The records that a follower has acted on. The log may hold a record twice; nothing is caused twice.
create table follower_effect (
  follower     text        not null,
  causation_id uuid        not null,
  caused_at    timestamptz not null,
  primary key (follower, causation_id)
);
create index follower_effect_by_age on follower_effect (caused_at);

-- Records that a follower could not act on and skipped.
create table follower_dead_letter (
  follower  text        not null,
  topic     text        not null,
  partition integer     not null,
  "offset"  bigint      not null,
  error     text        not null,
  parked_at timestamptz not null,
  primary key (follower, topic, partition, "offset")
);

-- When each schedule is due next. The statement that moves `next_at` also inserts the slot's duty.
create table schedule (
  schedule      text        primary key,
  every_seconds integer     not null check (every_seconds > 0),
  next_at       timestamptz not null,
  last_slot_at  timestamptz
);
