-- Whether anybody is served at all; read by every process twice a second. One row.
create table maintenance (
  only_row   boolean     primary key default true check (only_row),
  enabled    boolean     not null default false,
  message    text,
  changed_at timestamptz,
  changed_by text
);
insert into maintenance default values;
