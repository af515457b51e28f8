import { type Route, route } from '../../auth/route.ts'
import { type QuotaEvent, quotaAt } from '../../events/quotas.ts'
import { Refusal } from '../../platform/refusal.ts'
import { quota, quotaInput } from '../../schemas/quotas.ts'
import { commit } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { saveQuota } from './rows.ts'

export const quotaRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/admin/quotas',
    credential: 'admin',
    tag: 'admin',
    summary: "Set a user's quota",
    body: quotaInput,
    response: quota,
    refusals: ['not_found'],
    async handle(request) {
      const { body } = request
      await commit(deps, request, quotaAt(body.username), {
        decide: (): QuotaEvent[] => [{ type: 'quota.set', data: body }],
        async alongside(tx, decided) {
          await refuseUnknown(tx, body.username)
          await saveQuota(tx, decided)
        },
      })
      const { username: _, ...limits } = body
      return { ...limits, default: false }
    },
  }),
]

async function refuseUnknown(tx: Transaction, username: string): Promise<void> {
  const { rowCount } = await tx.query('select 1 from auth.person where username = $1', [username])
  if (rowCount === 0) throw new Refusal('not_found', `No such user: ${username}`)
}
