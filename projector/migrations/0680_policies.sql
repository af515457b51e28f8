-- Row-level security (docs/adr/0009-row-level-security.md) is one call for each table, here and in later migrations. These
-- functions write the condition into the policy instead of being called by it: PostgreSQL inlines no function with a subquery,
-- so it would call one for every row.

create function readable_if(condition text, variadic tables text[]) returns void language plpgsql as $$
declare
  of_table text;
begin
  foreach of_table in array tables loop
    execute format('create policy readable on %I for select using (%s)', of_table, replace(condition, '<table>', quote_ident(of_table)));
    execute format('alter table %I enable row level security', of_table);
  end loop;
end $$;

-- A condition in `case … end is not null` counts as true of nearly every row. And so it is: the query's own filter has picked the
-- readable ones. Otherwise the planner would expect half of the rows to go, and sort thousands where it only needs to walk along an
-- index until a page is full.
create function readable_where(condition text, variadic tables text[]) returns void language sql
  as $$ select readable_if(format('case when %s then true end is not null', condition), variadic tables) $$;

-- Rows with an owner and a project: for the owner, and whoever reads the project.
create function readable_with_project(variadic tables text[]) returns void language sql
  as $$ select readable_where('owner = (select caller()) or project in (select readable_projects())', variadic tables) $$;

-- Rows with a `run_id`: for whoever reads the run. The scalar subquery is never hashed: it looks up single rows, while `exists`
-- would first gather all runs.
create function readable_with_run(variadic tables text[]) returns void language sql
  as $$ select readable_where('run_id = any ((select asked_runs())::text[])
                               or (select true from runs where runs.run_id = <table>.run_id)', variadic tables) $$;

-- Rows with a `run_no` of metric_run: likewise.
create function readable_with_run_no(variadic tables text[]) returns void language sql
  as $$ select readable_where('run_no = any ((select asked_run_nos())::integer[])
                               or (select true from metric_run where metric_run.run_no = <table>.run_no)', variadic tables) $$;
