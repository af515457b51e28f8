-- Never used: projects and short ids have tables of their own.
drop table unique_name;
