-- Projects by name; the first person to submit to one owns it.
create table project (
  name       text        primary key,
  owner      text        not null,
  visibility text        not null check (visibility in ('private', 'internal')),
  -- The number of the newest short id `<project>-<n>`.
  last_short integer     not null default 0,
  created_at timestamptz not null
);

create table project_member (
  project  text not null references project,
  username text not null,
  role     text not null check (role in ('viewer', 'member', 'maintainer')),
  primary key (project, username)
);

-- Whether a person may read what has this owner and project (docs/use/projects.md): the one place where commands ask. Reads ask
-- `mayRead` in query-api/access.ts, behind which row-level security stands.
create function may_read(of_owner text, of_project text, username text, is_admin boolean) returns boolean
language sql stable parallel safe
return is_admin or of_owner = username or exists (
  select from project p where p.name = of_project
     and (p.visibility = 'internal' or p.owner = may_read.username or exists (
       select from project_member m where m.project = p.name and m.username = may_read.username)));

-- Every thing that has an owner or is used, of all slices, and what uses what: written by `commit` from the kinds that slices
-- declare (command-api/kind.ts), in the transaction of the events. Nothing here expires with its slice's own rows.
create table resource (
  kind        text not null,
  id          text not null,
  name        text, -- for people; null: its id
  owner       text,
  project     text,
  visibility  text,
  within_kind text, -- the thing that it is purged with
  within_id   text,
  deleted_at  timestamptz,
  primary key (kind, id)
);
create index resource_within on resource (within_kind, within_id) where within_id is not null;

create table use (
  used_kind text not null,
  used_id   text not null,
  user_kind text not null,
  user_id   text not null,
  used_as   text not null, -- in which way; tells several uses of one thing by another apart
  since     timestamptz not null,
  until     timestamptz,
  primary key (used_kind, used_id, user_kind, user_id, used_as)
);
create index use_by_user on use (user_kind, user_id, used_as);
