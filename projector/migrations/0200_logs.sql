-- Read model behind /api/runs/{run_id}/logs: what each run printed and reported, numbered line by line.
create table log_runs (
  run_id         text        primary key,
  next_seq       bigint      not null,
  bytes          bigint      not null,
  truncated      boolean     not null,
  eof_state      text,
  eof_at         timestamptz,
  -- The last row of log_chunks and its size; a short one takes more lines instead of a new row.
  tail_seq       bigint,
  tail_bytes     integer     not null,
  -- The hour that is being counted (hours since 1970) and the bytes of it.
  hour           bigint      not null,
  hour_bytes     bigint      not null,
  -- When the server received the last record, epoch milliseconds.
  last_ms        bigint      not null
) with (fillfactor = 80);

create table log_chunks (
  run_id    text   not null,
  first_seq bigint not null,
  body      bytea  not null,
  primary key (run_id, first_seq)
);
-- Bodies come compressed.
alter table log_chunks alter body set storage external;

-- How far each origin of lines was taken: the next byte of an output, or the last seq of a producer.
create table log_sources (
  run_id     text   not null,
  source     text   not null,
  taken      bigint not null,
  -- The beginning of a line whose end has not come yet.
  unfinished bytea  not null,
  primary key (run_id, source)
) with (fillfactor = 80);
