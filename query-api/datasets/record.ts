import { type Selectable, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { DatasetTables } from '../../projector/datasets/table.ts'
import type { DatasetVersion } from '../../schemas/datasets/datasets.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { mayReadRun } from '../rules/access.ts'
import { countRuns } from '../rules/count-runs.ts'
import { maySee } from '../rules/dataset-access.ts'
import type { Db } from './find.ts'

export type VersionRow = Selectable<DatasetTables['dataset_versions']>
type Settings = Pick<Selectable<DatasetTables['datasets']>, 'visibility' | 'license'>

/** Versions in the form of answers; `settings`: of their dataset. */
export async function toVersions(
  { db, caller }: { db: Db; caller: Person },
  rows: readonly (Omit<VersionRow, 'report' | 'files'> & Settings)[],
): Promise<DatasetVersion[]> {
  const refs = rows.map(({ ref }) => ref)
  const using = sql`
    runs r where r.datasets @> array[asked.ref] and r.datasets <> '{}' and r.deleted_at is null and ${mayReadRun(caller)}`
  const counts = await countRuns(db, refs, using)
  return rows.map(({ name, created_at, validated_at, ...row }) => ({
    ...row,
    dataset: `${row.owner}/${name}`,
    created_at: toTimestamp(created_at),
    validated_at: validated_at && toTimestamp(validated_at),
    used_by_count: counts.get(row.ref) ?? 0,
  }))
}

type Use = {
  type: 'run' | 'dataset'
  id: string
  name: string | null
  owner: string
  state: string
}

/** Runs that used a version and versions made from it, the newest first, as far as the caller may read them. */
export async function readUses(
  db: Db,
  caller: Person,
  { ref, limit, offset }: { ref: string; limit: number; offset: number },
): Promise<{ rows: Use[]; counted: number }> {
  const uses = sql`
    select 'run' as type, r.run_id as id, coalesce(r.name, r.short_id) as name, r.owner, r.state, r.created_at from runs r
     where r.datasets @> array[${ref}::text] and r.datasets <> '{}' and r.deleted_at is null and ${mayReadRun(caller)}
    union all
    select 'dataset', v.ref, null, v.owner, v.state, v.created_at
      from dataset_versions v join datasets d using (owner, name)
     where v.parents @> array[${ref}::text] and ${maySee(caller)}`
  const { rows } = await sql<Use>`
    select type, id, name, owner, state from (${uses}) used
     order by created_at desc, type, id limit ${limit} offset ${offset}`.execute(db)
  const counted = await sql<{ count: number }>`
    select count(*)::int as count from (select from (${uses}) used limit 10001) found`.execute(db)
  return { rows, counted: counted.rows[0]?.count ?? 0 }
}
