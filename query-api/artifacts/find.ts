import type { Selectable } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import { type AccessTables, findRun } from '../access.ts'
import type { Reads } from '../reads.ts'

export type Tables = ArtifactTables & AccessTables & JobTables
export type ArtifactRow = Selectable<ArtifactTables['artifacts']>

/** One that the caller may not read looks like one that does not exist. */
export async function findArtifact(
  reads: Reads<Tables>,
  caller: Person,
  artifact_id: string,
): Promise<ArtifactRow> {
  const missing = () => new Refusal('not_found', `No such artifact: ${artifact_id}`)
  const row = await reads
    .as(caller)
    .selectFrom('artifacts')
    .selectAll()
    .where('artifact_id', '=', artifact_id)
    .executeTakeFirst()
  if (!row) throw missing()
  // Also where there is no row-level security.
  await findRun(reads, caller, row.run_id).catch(error => {
    throw error instanceof Refusal ? missing() : error
  })
  return row
}
