-- The server's own roles no longer pass row-level security: a policy named `server` admits them instead. What is written into
-- the views for people must admit the same roles.
create function reads_all(of_table regclass) returns boolean language sql stable
begin atomic
  select not row_security_active(of_table)
      or exists (select from pg_catalog.pg_policy p join pg_catalog.pg_roles r on r.oid = any (p.polroles)
                  where p.polrelid = of_table and p.polname = 'server' and r.rolname = current_user);
end;

create or replace view readable_runs as
  select * from runs
   where deleted_at is null
     and case when (select reads_all('runs'::regclass))
                or owner = (select caller()) or project in (select readable_projects()) then true end is not null;

create or replace view searched_summaries as
  select m.run_id, s.* from metric_settled s join metric_run m using (run_no)
   where (select reads_all('runs'::regclass))
  union all
  select m.run_id, s.* from metric_latest s join metric_run m using (run_no)
   where (select reads_all('runs'::regclass))
  union all
  select * from settled_of_runs where (select not reads_all('runs'::regclass))
  union all
  select * from latest_of_runs where (select not reads_all('runs'::regclass));
