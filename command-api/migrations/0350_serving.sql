-- What gateways serve. Whoever changes a row of the tables below, or a token of a deployment, takes the next epoch in the same
-- transaction, after every other lock: the lock on this row makes epochs commit in their order, so that a gateway that has seen an
-- epoch finds all that changed since by comparing numbers.
create table serving_epoch (
  one boolean primary key default true check (one),
  epoch bigint not null
);
insert into serving_epoch (epoch) values (0);

-- `revision_id` is the promoted revision; null before the first promotion.
create table deployment_route (
  deployment_id text primary key,
  state text not null check (state in ('serving', 'suspended', 'deleted')),
  revision_id text,
  max_body_bytes bigint not null,
  timeout_s integer not null,
  max_concurrency integer not null,
  epoch bigint not null
);
create index on deployment_route (epoch);

-- An engine that answers for a revision. `base_url` ends before `/v1`; it comes from the executor or from whoever described an
-- engine that Forge does not run, whose secret header is sealed (auth/sealed.ts).
create table replica_route (
  replica_id text primary key,
  deployment_id text not null,
  revision_id text not null,
  base_url text not null,
  header_name text,
  header_sealed bytea,
  is_ready boolean not null,
  epoch bigint not null
);
create index on replica_route (revision_id);
create index on replica_route (epoch);
