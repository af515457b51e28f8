-- Whether requests with the token are captured.
alter table deployment_tokens add column captures boolean not null default false;
