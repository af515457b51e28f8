-- How many runs without a job each person has begun and not ended. A counter, because counting thousands of rows at each creation
-- would be slow; and its row makes creations of one person wait for each other, so that none passes the bound.
create table unfinished_runs (
  owner text    primary key,
  runs  integer not null
);
insert into unfinished_runs
select owner, count(*) from run_state where source = 'external' and ended_at is null group by owner;

-- A trigger, so that nothing that ends or removes a run can forget it.
create function count_unfinished_runs() returns trigger language plpgsql as $$
begin
  insert into write.unfinished_runs as u (owner, runs) values (coalesce(new.owner, old.owner), tg_argv[0]::integer)
      on conflict (owner) do update set runs = u.runs + excluded.runs;
  return null;
end $$;
create trigger run_begins after insert on run_state
  for each row when (new.source = 'external' and new.ended_at is null) execute function count_unfinished_runs('1');
create trigger run_ends after update of ended_at on run_state
  for each row when (new.source = 'external' and old.ended_at is null and new.ended_at is not null)
  execute function count_unfinished_runs('-1');
create trigger run_begins_again after update of ended_at on run_state
  for each row when (new.source = 'external' and old.ended_at is not null and new.ended_at is null)
  execute function count_unfinished_runs('1');
create trigger run_is_removed after delete on run_state
  for each row when (old.source = 'external' and old.ended_at is null) execute function count_unfinished_runs('-1');
