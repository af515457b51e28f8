import type { ClientBase } from 'pg'

/**
 * Everything that migrations define in a schema, one line for each part: tables with their columns in order, constraints,
 * indexes, policies, triggers, functions, views and sequences. Left out is what a program adds afterwards: partitions, grants
 * to roles and policies for roles. Sets the search path of the transaction.
 */
export async function catalogOf(client: ClientBase, schema: string): Promise<string[]> {
  // Names inside definitions are qualified unless they are on the search path.
  await client.query(`select set_config('search_path', quote_ident($1), true)`, [schema])
  const { rows } = await client.query<{ line: string }>(parts, [schema])
  return rows.map(({ line }) => line.replace(/\s+/g, ' ')).sort()
}

const parts = `
  with relation as (
    select c.* from pg_class c
     where c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'p', 'v', 'S') and not c.relispartition
  ), routine as (
    select p.* from pg_proc p where p.pronamespace = to_regnamespace($1)
  )
  select concat_ws(' ', 'relation', relname, relkind, relpersistence, relrowsecurity,
                   case when relkind = 'p' then pg_get_partkeydef(oid) end,
                   case when relkind = 'v' then pg_get_viewdef(oid) end,
                   reloptions::text, (select t.reloptions::text from pg_class t where t.oid = reltoastrelid),
                   obj_description(oid, 'pg_class')) as line
    from relation
  union all
  select concat_ws(' ', 'column', relname, row_number() over (partition by c.oid order by attnum), attname,
                   format_type(atttypid, atttypmod), case when attnotnull then 'not null' end,
                   'default ' || pg_get_expr(adbin, adrelid), attidentity, attgenerated, attstorage, attoptions::text,
                   case when attcollation <> 0 then attcollation::regcollation::text end,
                   col_description(c.oid, attnum))
    from relation c join pg_attribute a on attrelid = c.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = c.oid and adnum = attnum
  union all
  select concat_ws(' ', 'constraint', relname, conname, pg_get_constraintdef(o.oid))
    from relation c join pg_constraint o on conrelid = c.oid and contype <> 'n'
  union all
  select concat_ws(' ', 'index', pg_get_indexdef(indexrelid), i.reloptions::text)
    from relation c join pg_index on indrelid = c.oid join pg_class i on i.oid = indexrelid
  union all
  select concat_ws(' ', 'trigger', pg_get_triggerdef(t.oid), tgenabled)
    from relation c join pg_trigger t on tgrelid = c.oid and not tgisinternal
  union all
  select concat_ws(' ', 'policy', relname, polname, polcmd, polpermissive,
                   'using ' || pg_get_expr(polqual, polrelid), 'check ' || pg_get_expr(polwithcheck, polrelid))
    from relation c join pg_policy on polrelid = c.oid and polroles = '{0}'
  union all
  select concat_ws(' ', 'sequence', relname, seqtypid::regtype, seqstart, seqincrement, seqmin, seqmax, seqcycle)
    from relation c join pg_sequence on seqrelid = c.oid
  union all
  select concat_ws(' ', 'function', pg_get_functiondef(oid),
                   case when proacl is null or proacl::text ~ '[{,]=X' then 'for everybody' end)
    from routine where prokind <> 'a'
  union all
  select concat_ws(' ', 'aggregate', proname, pg_get_function_identity_arguments(oid), aggtransfn,
                   aggtranstype::regtype, agginitval)
    from routine join pg_aggregate on aggfnoid = oid`
