import { type Route, route } from '../../auth/route.ts'
import { type BillingEvent, billingAt } from '../../events/billing.ts'
import { toSignedMicro } from '../../events/calculations/billing.ts'
import { Refusal } from '../../platform/refusal.ts'
import { correctionInput, correctionMade } from '../../schemas/billing.ts'
import { create, fresh } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'

export const billingRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/billing/corrections',
    credential: 'admin',
    tag: 'billing',
    summary: 'Correct an entry of the ledger by a further one',
    body: correctionInput,
    response: correctionMade,
    refusals: ['not_found'],
    async handle(request) {
      const { entry_id: corrects, cost, reason } = request.body
      const entry = await deps.ledger.entry(corrects)
      if (!entry) throw new Refusal('not_found', `No such entry: ${corrects}`)
      const { owner, project, run_id, day } = entry
      const entry_id = deps.newId('cor')
      const target = fresh(billingAt(entry_id))
      return create(deps, request, target, {
        async make(work) {
          await work.decide(target, {
            decide: (): BillingEvent[] => [
              {
                type: 'billing.entry',
                data: {
                  ...{ entry_id, kind: 'correction', owner, project, run_id, day },
                  starts_at: entry.starts_at.toISOString(),
                  ends_at: entry.ends_at.toISOString(),
                  byte_ms: '0',
                  price_per_gb_month: '0',
                  cost_micro: String(toSignedMicro(cost)),
                  ...{ corrects, reason },
                },
              },
            ],
          })
          return { entry_id }
        },
      })
    },
  }),
]
