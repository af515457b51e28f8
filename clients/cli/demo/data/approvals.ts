import type { Api } from '../../api/client.ts'

/** Big jobs and moves of `production` wait for approval, as does somebody's request for a higher quota. */
export async function sendApprovals(
  root: Api,
  owners: ReadonlyMap<string, Api>,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  const [somebody = root] = owners.values()
  await root.put('/api/approval-rules/big-jobs', {
    when: { on: 'gpus', gpus: 16 },
    who: { role: 'admin' },
  })
  await root.put('/api/approval-rules/production', {
    when: { on: 'protected_alias', names: ['production'] },
    who: { role: 'operator' },
  })
  const waiting = await somebody.get<{ state: string }[]>('/api/quota-requests')
  if (waiting.some(({ state }) => state === 'pending')) return
  await somebody.post('/api/quota-requests', {
    max_concurrent_gpus: 1_000,
    until: new Date(Date.now() + 30 * 86_400_000).toISOString(),
    reason: 'the last sweep before the paper',
  })
}
