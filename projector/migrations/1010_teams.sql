-- Read models behind /api/teams, and the projects that people may read as members of a team.
create table teams (
  name                text        primary key,
  description         text        not null,
  max_concurrent_gpus integer,
  max_concurrent_jobs integer,
  daily_gpu_hours     double precision,
  groups              jsonb       not null default '{}',  -- role by group of the identity provider
  created_at          timestamptz not null
);

create table team_members (
  team     text        not null,
  username text        not null,
  role     text        not null,
  source   text        not null,  -- 'person', 'provider'
  since    timestamptz not null,
  primary key (team, username)
);
create index team_members_by_person on team_members (username);

alter table projects add column team text;
create index projects_of_team on projects (team) where team is not null;

-- Run as the owner, like readable_projects().
create function own_teams() returns setof text
language sql stable security definer cost 1 rows 1
begin atomic
  select team from team_members where username = caller();
end;

create or replace function readable_projects() returns setof text
language sql stable security definer cost 1 rows 1
begin atomic
  select name from projects
   where owner = caller() or (visibility = 'internal' and caller() is not null)
  union
  select project from project_members where username = caller()
  union
  select p.name from team_members m join projects p on p.team = m.team where m.username = caller();
end;

select readable_if('name in (select own_teams())', 'teams');
select readable_if('team in (select own_teams())', 'team_members');

-- The roles of people in projects, besides the owner's: as members of the project, and as members of the team that owns it.
create view project_people with (security_invoker = true) as
select project, username, role from project_members
union all
select p.name, m.username, case m.role when 'owner' then 'maintainer' else m.role end
  from projects p join team_members m on m.team = p.team;

-- Members of a team read its budget.
drop policy readable on budgets;
select readable_if('case scope when ''user'' then name = (select caller()) when ''team'' then name in (select own_teams())
                    else name in (select readable_projects()) end', 'budgets');
