-- The runs of a model of the hub, for its lineage.
create index jobs_of_hub_model on jobs ((spec #>> '{spec,model,ref}')) where spec #>> '{spec,model,ref}' is not null;
create index jobs_of_hub_adapter on jobs ((spec #>> '{spec,model,adapter}')) where spec #>> '{spec,model,adapter}' is not null;
