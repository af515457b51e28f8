import type { Kysely } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { DatasetTables } from '../../projector/datasets/table.ts'
import { datasetStanding, standsAtLeast } from '../../schemas/datasets/access.ts'
import { datasetPath } from '../../schemas/datasets/datasets.ts'
import type { Reads } from '../reading/reads.ts'
import type { AccessTables } from '../rules/access.ts'

export type Tables = DatasetTables & AccessTables
export type Db = Kysely<Tables>
type Name = { owner: string; name: string }

/** For routes about a dataset. */
export const ofDataset = (reads: Reads<Tables>) =>
  ({
    credential: 'person',
    reach: 'its_people',
    params: datasetPath,
    refusals: ['not_found'],
    of: ({ caller, params }: { caller: Person; params: Name }) =>
      findDataset(reads, caller, params),
  }) as const

/** A dataset that the caller may not see looks as if it did not exist. */
export async function findDataset<C extends Pick<Person, 'username' | 'role'>>(
  reads: Reads<Tables>,
  caller: C,
  { owner, name }: Name,
) {
  const db = reads.as(caller)
  const row = await db
    .selectFrom('datasets as d')
    .leftJoin('dataset_grants as g', join =>
      join
        .onRef('g.owner', '=', 'd.owner')
        .onRef('g.name', '=', 'd.name')
        .on('g.username', '=', caller.username),
    )
    .selectAll('d')
    .select(['g.may_see', 'g.may_use'])
    .where('d.owner', '=', owner)
    .where('d.name', '=', name)
    .executeTakeFirst()
  const may = row ? standingIn(row, caller) : 'hidden'
  if (!row || may === 'hidden') throw new Refusal('not_found', `No such dataset: ${owner}/${name}`)
  return { db, caller, row, may }
}

type Granted = {
  owner: string
  visibility: 'private' | 'public'
  use_by: 'everybody' | 'granted'
  may_see: boolean | null
  may_use: boolean | null
}

export const standingIn = (
  { may_see, may_use, use_by, ...row }: Granted,
  caller: Pick<Person, 'username' | 'role'>,
) =>
  datasetStanding(
    { ...row, use: use_by },
    may_see === null ? null : { see: may_see, use: may_use === true },
    caller,
  )

type Found = Awaited<ReturnType<typeof findDataset<Person>>>

/** A version with its files and report. */
export async function findVersion({ db }: Found, named: Name & { version: number }) {
  const row = await db
    .selectFrom('dataset_versions')
    .selectAll()
    .where('owner', '=', named.owner)
    .where('name', '=', named.name)
    .where('version', '=', named.version)
    .executeTakeFirst()
  if (!row)
    throw new Refusal(
      'not_found',
      `The dataset ${named.owner}/${named.name} has no version ${named.version}`,
    )
  return row
}

/** Refuses who sees the dataset, but may not read its rows and files. */
export function refuseUnlessUser({ may, row }: Pick<Found, 'may'> & { row: Name }): void {
  if (standsAtLeast(may, 'use')) return
  throw new Refusal(
    'forbidden',
    `You may see the dataset ${row.owner}/${row.name}, but not use it; ask ${row.owner} to grant you its use`,
    { code: 'dataset.not_usable', data: { dataset: `${row.owner}/${row.name}` } },
  )
}
