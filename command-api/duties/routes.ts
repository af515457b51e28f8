import { type Route, route } from '../../auth/route.ts'
import { type DutyEvent, duties } from '../../events/duties.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type DutyRow, duty, dutyList, dutyPath, dutyQuery } from '../../schemas/duties.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { findDuty, listDuties } from './list.ts'

export const dutyRoutes = (deps: Deps): Route[] => [
  route({
    method: 'GET',
    path: '/api/admin/duties',
    credential: 'admin',
    tag: 'admin',
    summary: 'Duties that events have caused, and their failures',
    query: dutyQuery,
    response: dutyList,
    handle: ({ query }) => listDuties(deps.pool, query, deps.now()),
  }),
  route({
    method: 'POST',
    path: '/api/admin/duties/{duty_id}/retry',
    credential: 'admin',
    tag: 'admin',
    summary: 'Try a duty again at once, with all its attempts',
    params: dutyPath,
    response: duty,
    refusals: ['not_found', 'conflict'],
    handle: request => handleDuty(deps, request, 'duty.retried'),
  }),
  route({
    method: 'DELETE',
    path: '/api/admin/duties/{duty_id}',
    credential: 'admin',
    recentSignIn: true,
    tag: 'admin',
    summary: 'Drop a duty: it is never performed',
    params: dutyPath,
    response: duty,
    refusals: ['not_found', 'conflict'],
    handle: request => handleDuty(deps, request, 'duty.dropped'),
  }),
]

/** SQL assignments; `$2` is now. Leased duties stay unchanged, because their holder may be about to close them. */
const change: Record<DutyEvent['type'], string> = {
  'duty.retried': 'parked_at = null, attempts = 0, due_at = $2',
  'duty.dropped': 'parked_at = null, done_at = $2, dropped = true',
}

async function handleDuty(
  deps: Deps,
  asked: HttpAsked & { params: { duty_id: string } },
  type: DutyEvent['type'],
): Promise<DutyRow> {
  const { duty_id } = asked.params
  const { reactor, cause } = await existing(deps, duty_id)
  await commit(deps, asked, duties.at(duty_id), {
    decide: () => [{ type, data: { duty_id, reactor, cause } }],
    async alongside(tx, { now }) {
      const { rowCount } = await tx.query(
        `update write.duty set ${change[type]}, leased_until = null
          where duty_id = $1 and done_at is null and (leased_until is null or leased_until <= $2)`,
        [duty_id, now],
      )
      if (rowCount === 0)
        throw new Refusal('conflict', `The duty ${duty_id} is being performed or already closed`)
    },
  })
  return existing(deps, duty_id)
}

async function existing({ pool, now }: Deps, duty_id: string): Promise<DutyRow> {
  const found = await findDuty(pool, duty_id, now())
  if (!found) throw new Refusal('not_found', `No such duty: ${duty_id}`)
  return found
}
