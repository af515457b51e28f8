-- Runs without a job are asked for by their short ids too.
alter table run_state add column short_id text unique;
