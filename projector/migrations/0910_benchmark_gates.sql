-- Benchmarks that gate the promotions of a deployment, and why they refused a promotion that a maintainer made nevertheless.
alter table deployments add column benchmark_gates text[] not null default '{}';
alter table deployment_promotions add column overridden text[] not null default '{}';
