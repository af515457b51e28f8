-- Read model behind /api/projects/{name}/views. The owner of a project's own view is ''.
create table saved_views (
  project  text        not null,
  owner    text        not null,
  view     text        not null,
  shared   boolean     not null,
  state    json        not null,
  bytes    integer     not null,
  saved_at timestamptz not null,
  primary key (project, owner, view)
);
select readable_if('project in (select readable_projects()) and (shared or owner = (select caller()))', 'saved_views');
