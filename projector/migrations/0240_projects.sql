-- What is noted of a project, and since when its members are members.
alter table projects add column notes text not null default '';
alter table project_members add column since timestamptz not null;
