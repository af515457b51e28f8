-- Whether a person may read what has this owner and project (docs/use/projects.md): the one place where commands ask. Reads ask
-- `mayRead` in query-api/access.ts, behind which row-level security stands.
create function may_read(of_owner text, of_project text, username text, is_admin boolean) returns boolean
language sql stable parallel safe
return is_admin or of_owner = username or exists (
  select from project p where p.name = of_project
     and (p.visibility = 'internal' or p.owner = may_read.username or exists (
       select from project_member m where m.project = p.name and m.username = may_read.username)));
