import type { Pool } from 'pg'
import type { Person, RunCaller } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { DatasetFileFacts, DatasetPatch } from '../../schemas/datasets/datasets.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { roleIfEnabled } from '../rules/enabled-person.ts'

type Name = { owner: string; name: string }
/** The person with whose rights is written. */
export type Writer = { username: string; role: 'admin' | 'operator' }
/** A file as clients of the Hub name it. */
export type NamedFile = { owner: string; sha256: string; size_bytes: number }

/** The newest version of a dataset; version 0 has no files. */
export type Head = { version: number; digest: string; files: readonly DatasetFileFacts[] }
export type Revised = {
  kept: readonly DatasetFileFacts[]
  uploads: readonly { name: string; upload_id: string }[]
  settings: DatasetPatch
}

/** The commands of other slices to which the Hub's are translated. */
export type HubPorts = {
  announceFile(request: HttpAsked, file: NamedFile): Promise<{ url: string; exists: boolean }>
  /** Null if this person was given no address for it. */
  registerFile(request: HttpAsked, file: NamedFile): Promise<string | null>
  storeFile(of: { asked: HttpAsked; owner: string; content: Buffer }): Promise<string>
  headOf(db: Pool, named: Name): Promise<Head>
  openDataset(
    request: HttpAsked,
    named: Name,
    made: { writer: Writer; settings: DatasetPatch },
  ): Promise<void>
  reviseDataset(
    request: HttpAsked,
    named: Name,
    revising: { writer: Writer; source: 'upload' | 'run'; revise: (head: Head) => Revised },
  ): Promise<Head>
}

export type HubRequest = Omit<HttpAsked, 'caller'> & { caller: Person | RunCaller }

/** Running code writes with the rights of its owner, but never with those of an administrator. */
export async function writerOf(pool: Pool, caller: HubRequest['caller']): Promise<Writer> {
  if (caller.kind === 'person') return caller
  const { rows } = await pool.query<{ owner: string }>({
    name: 'owner_of_token',
    text: `select owner from write.resource where kind = 'run' and id = $1 and deleted_at is null`,
    values: [caller.runId],
  })
  const username = rows[0]?.owner
  if (username === undefined || (await roleIfEnabled(pool, username)) === null)
    throw new Refusal('forbidden', 'The run was deleted, or its owner may not sign in')
  return { username, role: 'operator' }
}
