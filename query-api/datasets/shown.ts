import type { Selectable } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { DatasetTables } from '../../projector/datasets/table.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { type Db, type findDataset, standingIn } from './find.ts'
import { toVersions } from './record.ts'

type Row = Selectable<DatasetTables['datasets']>
type Reading = { db: Db; caller: Person }

/** Datasets in the form of lists, which the caller may see. */
export async function toDatasets({ db, caller }: Reading, rows: readonly Row[]) {
  if (rows.length === 0) return []
  const names = rows.map(({ owner, name }) => [owner, name] as const)
  const grants = await db
    .selectFrom('dataset_grants')
    .select(['owner', 'name', 'may_see', 'may_use'])
    .where('username', '=', caller.username)
    .where(eb => eb.or(names.map(([owner, name]) => eb.and({ owner, name }))))
    .execute()
  const newest = await newestOf({ db, caller }, rows)
  return rows.map(row => {
    const grant = grants.find(one => one.owner === row.owner && one.name === row.name)
    const granted = { may_see: grant?.may_see ?? null, may_use: grant?.may_use ?? null }
    const { owner, name, visibility, license, use_by: use, created_at, updated_at } = row
    const found = newest.get(`${owner}/${name}`)
    return {
      dataset: `${owner}/${name}`,
      ...{ owner, name, visibility, use, license },
      may: standingIn({ ...row, ...granted }, caller),
      versions: found?.versions ?? 0,
      newest: found?.newest ?? null,
      created_at: toTimestamp(created_at),
      updated_at: toTimestamp(updated_at),
    }
  })
}

/** The newest version of each dataset, and how many it has. */
async function newestOf(reading: Reading, rows: readonly Row[]) {
  const { db } = reading
  const versions = await db
    .selectFrom('dataset_versions')
    .select([...versionColumns])
    .select(eb =>
      eb.fn
        .countAll<number>()
        .over(over => over.partitionBy(['owner', 'name']))
        .as('of'),
    )
    .distinctOn(['owner', 'name'])
    .where(eb => eb.or(rows.map(({ owner, name }) => eb.and({ owner, name }))))
    .orderBy('owner')
    .orderBy('name')
    .orderBy('version', 'desc')
    .execute()
  const settings = new Map(rows.map(row => [`${row.owner}/${row.name}`, row]))
  const shown = await toVersions(
    reading,
    versions.flatMap(({ of: _, ...version }) => {
      const row = settings.get(`${version.owner}/${version.name}`)
      return row ? [{ ...version, visibility: row.visibility, license: row.license }] : []
    }),
  )
  return new Map(
    shown.map(newest => {
      const found = versions.find(({ ref }) => ref === newest.ref)
      return [newest.dataset, { newest, versions: Number(found?.of ?? 0) }]
    }),
  )
}

/** One dataset with its card; who may not write it sees only their own grant. */
export async function toDataset({
  db,
  caller,
  row,
  may,
}: Awaited<ReturnType<typeof findDataset<Person>>>) {
  const { may_see: _, may_use: __, ...plain } = row
  const [shown] = await toDatasets({ db, caller }, [plain])
  const grants = await db
    .selectFrom('dataset_grants')
    .selectAll()
    .where('owner', '=', row.owner)
    .where('name', '=', row.name)
    .$if(may !== 'write', one => one.where('username', '=', caller.username))
    .orderBy('username')
    .execute()
  return {
    ...shown,
    card: row.card,
    grants: grants.map(({ username, may_see, may_use, granted_by, granted_at }) => ({
      ...{ username, see: may_see, use: may_use, granted_by },
      granted_at: toTimestamp(granted_at),
    })),
  }
}

/** All but the report and the files, which are long. */
const versionColumns = [
  ...(['owner', 'name', 'version', 'ref', 'digest', 'state', 'format', 'kind', 'rows'] as const),
  ...(['bytes', 'error_count', 'tokens', 'splits', 'schema', 'parents', 'source'] as const),
  ...(['deprecated_reason', 'created_by', 'created_at', 'validated_at'] as const),
] as const

export const versionsOf = (db: Db, { owner, name }: Pick<Row, 'owner' | 'name'>) =>
  db
    .selectFrom('dataset_versions')
    .select([...versionColumns])
    .where('owner', '=', owner)
    .where('name', '=', name)
