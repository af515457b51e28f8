-- Cursors of the streams `hub-imports` and `hub-pushes`: 1, 2, … over everybody's, renewed at each change of a row.
alter table hub_imports add column change bigint not null default 0;
create index hub_imports_changed on hub_imports (change);
alter table hub_pushes add column change bigint not null default 0;
create index hub_pushes_changed on hub_pushes (change);
