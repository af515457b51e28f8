-- Teams, their members and pools. A deleted team keeps its row, because its name is not given away again.
create table write.team (
  name                text        primary key,
  -- The pool: null is no limit.
  max_concurrent_gpus integer,
  max_concurrent_jobs integer,
  daily_gpu_hours     double precision,
  -- What its jobs hold.
  held_gpus           integer     not null default 0,
  held_jobs           integer     not null default 0,
  deleted_at          timestamptz
);

create table write.team_member (
  team     text not null references write.team,
  username text not null,
  role     text not null check (role in ('owner', 'maintainer', 'member', 'viewer')),
  primary key (team, username)
);
create index team_member_by_person on write.team_member (username);

-- Groups of the identity provider whose people become members when they sign in.
create table write.team_group (
  team       text not null references write.team,
  group_name text not null,
  role       text not null check (role in ('maintainer', 'member', 'viewer')),
  primary key (team, group_name)
);
create index team_group_by_name on write.team_group (group_name);

alter table write.project add column team text references write.team;
create index project_of_team on write.project (team) where team is not null;

-- The roles of people in projects, besides the owner's: as members of the project, and as members of the team that owns it. Every
-- rule of who may do what in a project reads them here. Of several roles the one with the highest rank counts.
create view write.project_person as
select project, username, role, array_position(array['viewer', 'member', 'maintainer'], role) as rank
  from write.project_member
union all
select p.name, m.username, case m.role when 'owner' then 'maintainer' else m.role end,
       array_position(array['viewer', 'member', 'maintainer'], case m.role when 'owner' then 'maintainer' else m.role end)
  from write.project p join write.team_member m on m.team = p.team;

create or replace function write.may_read(of_owner text, of_project text, username text, is_admin boolean) returns boolean
language sql stable parallel safe
return is_admin or of_owner = username or exists (
  select from write.project p where p.name = of_project
     and (p.visibility = 'internal' or p.owner = may_read.username or exists (
       select from write.project_person m where m.project = p.name and m.username = may_read.username)));

-- The team in whose pool a job counts.
alter table write.job_state add column team text;
alter table write.quota_hold add column team text;
alter table write.gpu_use add column team text;
create index gpu_use_of_team on write.gpu_use (team) where team is not null;
alter table write.deployment_state add column team text;
