-- What plugins said about a diagnosis, oldest first: [{plugin, model, words, at}].
alter table diagnoses add column comments jsonb not null default '[]';
