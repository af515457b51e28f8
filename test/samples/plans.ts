import type { Sample, SampleServer } from './sample.ts'
import { asked, type Call } from './send.ts'

type Ask = <T>(call: Call) => Promise<T>
type Made = { plan_id: string }

const planOf = ({ project, lock }: Record<string, unknown>) => ({
  spec: {
    api: 'forge/v2',
    metadata: { name: 'planned', project },
    lock,
    spec: {
      resources: { profile: 'spare' },
      scheduling: { not_before: '2099-01-01T00:00:00+00:00' },
    },
  },
})

const make = (ask: Ask, fields: Record<string, unknown>) =>
  ask<Made>({ method: 'POST', path: '/api/plans', body: planOf(fields) })

/** A plan of the owner's project that waits to be submitted. */
export const planSample: Sample = {
  slice: 'plans',
  things: {
    plan: `select data ->> 'plan_id', data ->> 'name', null, data ->> 'owner', data ->> 'project', null, false
             from write.event where type = 'plan.created'`,
  },
  async make({ ask, made }) {
    const { plan_id } = await make(ask, made.fields)
    return { nouns: { plans: { plan_id } } }
  },
  missing: (_, whose) => ({ nouns: { plans: { plan_id: `pln_of_nobody_${whose}` } } }),
  hidden: ['plans'],
  lists: { '/api/plans': 'its people' },
  pages: () => ['/plans/none'],
  tables: {
    plans: { seenBy: 'members', isFilled: true, cells: ({ no }) => ({ plan_id: `pln_${no}` }) },
    plan_stages: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ no }) => ({ plan_id: `pln_${no}` }),
    },
    plan_runs: {
      seenBy: 'members',
      cells: ({ no }) => ({ plan_id: `pln_${no}` }),
    },
  },
  changes: {
    'POST /api/plans': { body: ({ fixtures: { operator } }) => planOf(operator.fields) },
    'POST /api/plans/{plan_id}/submit': { path: another('submit') },
    'POST /api/plans/{plan_id}/cancel': { path: another('cancel') },
  },
}

/** Another plan of the operator, for a request that ends it. */
function another(action: string) {
  return async ({ send, people, fixtures }: SampleServer): Promise<string> => {
    const ask: Ask = call => asked(send, people.operator, call)
    const { plan_id } = await make(ask, fixtures.operator.fields)
    return `/api/plans/${plan_id}/${action}`
  }
}
