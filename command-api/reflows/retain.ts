import type { Deps } from '../deps.ts'
import { nothing } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { deleteUnwanted, unwantedKinds } from './rows.ts'

type Needed = Pick<Deps, 'pool' | 'now' | 'config'>

const dayMs = 86_400_000
/** Rows deleted by one statement. */
const atOnce = 5_000

/** Deletes captured requests that nobody may keep any longer, every hour. */
export const capturedRetention = reactor<object, Needed>({
  name: 'delete-captured-requests',
  repeat: 'ask first',
  every: { seconds: 3600, payload: () => ({}) },
  deadlineMs: 1_800_000,
  renewMs: 20_000,
  atOnce: 1,
  async perform(_, { pool, now, config }, signal) {
    await deleteCaptured({ pool, now: now(), days: config.captureDays }, signal)
    return nothing
  },
})

export async function deleteCaptured(
  { pool, now, days }: { pool: Needed['pool']; now: Date; days: number },
  signal: AbortSignal,
): Promise<void> {
  const before = new Date(now.getTime() - days * dayMs)
  for (const what of unwantedKinds)
    for (let deleted = atOnce; deleted === atOnce; ) {
      signal.throwIfAborted()
      deleted = await deleteUnwanted(pool, what, { before, most: atOnce })
    }
}
