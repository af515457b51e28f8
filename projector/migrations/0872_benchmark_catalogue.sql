-- The catalogue of benchmarks, and the results of one of them across runs.
create table benchmark_versions (
  name       text        not null,
  version    integer     not null,
  owner      text        not null,
  definition jsonb       not null,
  defined_at timestamptz not null,
  defined_by text        not null,
  primary key (name, version)
);
select readable_if('true', 'benchmark_versions');
create index run_benchmarks_of_one on run_benchmarks (benchmark, (result ->> 'version'));
