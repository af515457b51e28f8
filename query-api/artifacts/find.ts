import type { Selectable } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import { artifactInPath } from '../../schemas/artifacts/artifacts.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, mayReadRunOf } from '../rules/access.ts'

export type Tables = ArtifactTables & AccessTables & JobTables
export type ArtifactRow = Selectable<ArtifactTables['artifacts']>

/** For routes about an artifact; readers of its run may read it. */
export const ofArtifact = (reads: Reads<Tables>) =>
  ({
    credential: 'person',
    reach: 'its_people',
    params: artifactInPath,
    of: ({ caller, params }: { caller: Person; params: { artifact_id: string } }) =>
      findArtifact(reads, caller, params.artifact_id),
  }) as const

/** An artifact that the caller may not read looks as if it did not exist. */
export async function findArtifact(
  reads: Reads<Tables>,
  caller: Person,
  artifact_id: string,
): Promise<ArtifactRow> {
  const row = await reads
    .as(caller)
    .selectFrom('artifacts')
    .selectAll()
    .where('artifact_id', '=', artifact_id)
    .executeTakeFirst()
  if (!row || !(await mayReadRunOf(reads, caller, row)))
    throw new Refusal('not_found', `No such artifact: ${artifact_id}`)
  return row
}
