import { randomUUID } from 'node:crypto'
import type { Sample, SampleServer } from './sample.ts'
import { asked } from './send.ts'

type Made = { request_id: string; approval_id: string }

/** A higher quota than any other sample has. */
const wanted = () => ({
  max_concurrent_gpus: 1_000_000,
  until: new Date(Date.now() + 86_400_000).toISOString(),
  reason: randomUUID(),
})

/** A rule that applies to nothing that samples do. */
const rule = () => ({ when: { on: 'gpus', gpus: 1_000_000 }, who: { role: 'admin' } })

/** A request that any operator may decide. */
async function another({ send, people }: SampleServer): Promise<string> {
  const path = `/api/approval-rules/rule-${randomUUID()}`
  const body = { when: { on: 'quota_raise' }, who: { role: 'operator' } }
  await asked(send, people.admin, { method: 'PUT', path, body })
  const { approval_id } = await asked<Made>(send, people.another, {
    method: 'POST',
    path: '/api/quota-requests',
    body: wanted(),
  })
  await asked(send, people.admin, { method: 'DELETE', path })
  return `/api/approvals/${approval_id}/decide`
}

/** A request of the owner for a higher quota, which waits for an admin. */
export const approvalSample: Sample = {
  slice: 'approvals',
  async make({ ask }) {
    const body = wanted()
    const { approval_id } = await ask<Made>({ method: 'POST', path: '/api/quota-requests', body })
    return {
      nouns: { approvals: { approval_id }, 'approval-rules': { name: `rule-${randomUUID()}` } },
    }
  },
  missing: (_, whose) => ({
    nouns: {
      approvals: { approval_id: `apr_of_nobody_${whose}` },
      'approval-rules': { name: `none-of-${whose}` },
    },
  }),
  hidden: ['approvals'],
  lists: {
    '/api/approvals': 'its people',
    '/api/approval-rules': 'everybody',
    '/api/quota-requests': 'its people',
  },
  pages: () => ['/approvals/none'],
  tables: {
    approvals: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no, username }) => ({ approval_id: `apr_${no}`, requested_by: username }),
    },
    approval_rules: { seenBy: 'everybody', cells: ({ no }) => ({ name: `rule-${no}` }) },
    quota_requests: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ request_id: `qrq_${no}` }),
    },
  },
  changes: {
    'PUT /api/approval-rules/{name}': { body: rule },
    'DELETE /api/approval-rules/{name}': {
      path: async ({ send, people }) => {
        const path = `/api/approval-rules/rule-${randomUUID()}`
        await asked(send, people.admin, { method: 'PUT', path, body: rule() })
        return path
      },
    },
    'POST /api/approvals/{approval_id}/decide': {
      path: another,
      body: () => ({ decision: 'rejected' }),
    },
    'POST /api/quota-requests': { body: wanted },
  },
}
