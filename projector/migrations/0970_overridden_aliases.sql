-- Why benchmarks refused the move of an alias that a maintainer made nevertheless.
alter table model_alias_moves add column overridden text[] not null default '{}';
