-- Whether jobs may start at all. One row, which every start locks in share mode: once a pause is answered, nothing starts.
create table queue_switch (
  is_only    boolean     primary key default true check (is_only),
  paused     boolean     not null default false,
  reason     text,
  changed_at timestamptz,
  changed_by text
);
insert into queue_switch default values;

-- Engines on which nothing may start: names of executors, or ids of machines.
create table drain (
  engine     text        primary key,
  reason     text,
  since      timestamptz not null,
  drained_by text        not null
);
