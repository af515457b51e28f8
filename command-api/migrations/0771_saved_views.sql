-- The saved views that exist, to limit how many a person has in a project; the owner of a project's own view is ''.
create table write.saved_view (
  project text not null,
  owner   text not null,
  view    text not null,
  primary key (project, owner, view)
);
