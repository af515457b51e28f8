-- The origins whose web pages may call a deployment; gateways answer browsers by them.
alter table deployment_route add column allowed_origins text[] not null default '{}';
