alter table deployments add column allowed_origins text[] not null default '{}';
