-- Read model behind /api/projects, and for who may read what.
create table projects (
  name       text        primary key,
  owner      text        not null,
  visibility text        not null,
  created_at timestamptz not null,
  notes      text        not null default ''
);

create table project_members (
  project  text        not null,
  username text        not null,
  role     text        not null,
  since    timestamptz not null,
  primary key (project, username)
);
create index project_members_by_person on project_members (username);

-- Row-level security applies to the role forge_reader, as which queries for people run; the owner of the tables bypasses it, so
-- the projector, the compactor and a rebuild see everything. Nobody else may read any of this.
--
-- Policies compare with settings of the session: forge.username; forge.runs, runs whose rows are about to be read, so that
-- they are judged once and not row by row; forge.shared, on if those very runs are read for several people at once, none of
-- whom is named.

create function caller() returns text language sql stable
  return nullif(current_setting('forge.username', true), '');

-- Runs as its owner, or policies on the tables it reads would call it in turn. Declared cheap: it runs once a query, while the
-- planner would count it for each row.
create function readable_projects() returns setof text
language sql stable security definer cost 1 rows 1
begin atomic
  select name from projects
   where owner = caller() or (visibility = 'internal' and caller() is not null)
  union
  select project from project_members where username = caller();
end;

-- The server's own roles do not bypass row-level security: a policy named `server` admits them. What is written into the views
-- for people must admit the same roles.
create function reads_all(of_table regclass) returns boolean language sql stable
begin atomic
  select not row_security_active(of_table)
      or exists (select from pg_catalog.pg_policy p join pg_catalog.pg_roles r on r.oid = any (p.polroles)
                  where p.polrelid = of_table and p.polname = 'server' and r.rolname = current_user);
end;

select readable_if('name in (select readable_projects())', 'projects');
select readable_if('project in (select readable_projects())', 'project_members');
