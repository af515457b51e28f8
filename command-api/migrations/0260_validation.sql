-- One row for each validation round of a run: the number of chunks that its first report named, and which of them are
-- on the log (bit n: chunk n). So a report with another number is refused, on whichever process it arrives.
create table validation_round (
  run_id       text    not null,
  step         bigint  not null,
  total_chunks integer not null,
  received     bytea   not null,
  primary key (run_id, step)
);
