-- With this key the positions of writes are bound to the person they were given to. Shared by all processes; it protects
-- nothing that whoever reads this table could not read anyway. One row.
create table position_key (
  only_row boolean primary key default true check (only_row),
  key      bytea   not null
);
