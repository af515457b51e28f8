-- How far each projection has come. Moved in the transaction that writes the rows, so that each record takes effect exactly once.
create table projection_checkpoint (
  projection  text    not null,
  topic       text    not null,
  partition   integer not null,
  next_offset bigint  not null,
  -- Up to where everything is filled in that this version keeps. A projector of an earlier version, which may be running for a
  -- while after an upgrade, moves next_offset alone; the next one to take its lock then fills in what that one left out.
  filled_to   bigint,
  primary key (projection, topic, partition)
);

-- The last version applied of each stream of decisions: the relay may publish an event twice.
create table stream_head (
  stream  text    primary key,
  version integer not null
) with (fillfactor = 80);

-- Every decision that was applied. A different one under a version that was applied before means that the database was restored
-- to a state before the log's, and must not pass for a repeat.
create table applied_event (
  event_id uuid primary key
);

-- Fact records that could not be applied, for a person to look at; the record itself stays on the log.
create table dead_letter (
  topic     text    not null,
  partition integer not null,
  "offset"  bigint  not null,
  key       text    not null,
  error     text    not null,
  value     bytea   not null,
  primary key (topic, partition, "offset")
);

-- Which generation of the read models this schema is; a rebuild creates the next one next to it.
create table generation (
  only_row boolean primary key default true check (only_row),
  number   integer not null
);
insert into generation (number) values (1);
