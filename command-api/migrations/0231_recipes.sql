-- Recipes that admins uploaded, and which recipes are deprecated. Versions never change, so rows only change in `deprecated`.
create sequence recipe_change;
create table recipe (
  name       text    not null,
  version    text    not null,
  recipe     jsonb,             -- null: a built-in one, of which only the deprecation is here
  archive    bytea,             -- .tar.gz; here, so that every host and every backup has it
  deprecated boolean not null,
  change     bigint  not null default nextval('recipe_change'),
  primary key (name, version),
  check ((recipe is null) = (archive is null))
);
-- The archive is compressed already.
alter table recipe alter column archive set storage external;
create unique index recipe_by_change on recipe (change);
