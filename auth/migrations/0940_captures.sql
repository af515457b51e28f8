-- Whether requests with the token are captured, for gateways (docs/use/reflow.md).
alter table deployment_token add column captures boolean not null default false;
