import type { Deps } from '../deps.ts'
import { nothing } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'

type Needed = Pick<Deps, 'pool'>

/** Rows deleted by one statement. */
const atOnce = 10_000

/** Deletes the scores of versions that are no longer current, every hour. */
export const retiredScoreReactor = reactor<object, Needed>({
  name: 'retired rubric scores',
  repeat: 'ask first',
  every: { seconds: 3600, payload: () => ({}) },
  deadlineMs: 300_000,
  atOnce: 1,
  async perform(_, { pool }) {
    await deleteRetired(pool)
    return nothing
  },
})

export async function deleteRetired(pool: Needed['pool'], most = atOnce): Promise<void> {
  const { rows } = await pool.query<{ owner: string; name: string; version: number }>(
    'select owner, name, version from write.rubric_score_version where retired_at is not null',
  )
  for (const { owner, name, version } of rows) {
    const of = [owner, name, version]
    for (let deleted = most; deleted === most; )
      deleted =
        (
          await pool.query(
            `delete from write.rubric_score where ctid = any(array(
               select ctid from write.rubric_score where owner = $1 and name = $2 and version = $3 limit $4))`,
            [...of, most],
          )
        ).rowCount ?? 0
    await pool.query(
      'delete from write.rubric_score_version where owner = $1 and name = $2 and version = $3',
      of,
    )
  }
}
