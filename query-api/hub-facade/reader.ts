import type { Context } from 'koa'
import type { Pool } from 'pg'
import type { Person, RunCaller } from '../../auth/caller.ts'
import type { ObjectStore } from '../../platform/objects/port.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { DatasetTables } from '../../projector/datasets/table.ts'
import type { ModelTables } from '../../projector/models/table.ts'
import type { DatasetStanding } from '../../schemas/datasets/access.ts'
import type { Reads } from '../reading/reads.ts'

export type Tables = ArtifactTables & DatasetTables & ModelTables

/** The person with whose rights is read. */
export type Reader = Pick<Person, 'username' | 'role'>
export type HubCaller = Person | RunCaller

type FoundDataset = {
  may: Exclude<DatasetStanding, 'hidden'>
  row: {
    owner: string
    name: string
    visibility: 'private' | 'public'
    license: string | null
    card: string
    created_at: Date
    updated_at: Date
  }
}
type FoundModel = {
  row: { model: string; owner: string; created_at: Date; updated_at: Date }
}

/** What the Hub's paths show, by the rules of the slices that have it. */
export type HubReads = {
  reads: Reads<Tables>
  /** Connections to the schemas `auth` and `write`, to find the owner of a run. */
  pool: Pool
  baseUrl: () => string
  store: Pick<ObjectStore, 'sizeOf' | 'read'>
  /** Responds with a stored file. */
  sendContent(ctx: Context, file: { sha256: string; filename: string }): Promise<void>
  /** Throws `not_found` if this person may not see it. */
  findDataset(reader: Reader, named: { owner: string; name: string }): Promise<FoundDataset>
  /** Throws `forbidden` if this person may see the dataset, but not use it. */
  refuseUnlessUser(found: FoundDataset): void
  /** Throws `not_found` if this person may not see it. */
  findModel(reader: Reader, model: string): Promise<FoundModel>
}

/** Running code reads with the rights of its owner, but never with those of an administrator. */
export async function readerOf(
  { pool }: Pick<HubReads, 'pool'>,
  caller: HubCaller,
): Promise<Reader> {
  if (caller.kind === 'person') return caller
  const { rows } = await pool.query<{ username: string }>({
    name: 'reader_of_token',
    text: `select username from write.resource r join auth.person p on p.username = r.owner and not p.disabled
            where r.kind = 'run' and r.id = $1 and r.deleted_at is null`,
    values: [caller.runId],
  })
  const [owner] = rows
  if (!owner) throw new Refusal('forbidden', 'The owner of the run may not sign in')
  return { username: owner.username, role: 'operator' }
}
