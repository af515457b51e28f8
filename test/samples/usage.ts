import { asExecutor, endedWell } from '../servers/as-executor.ts'
import type { Sample } from './sample.ts'
import { asked } from './send.ts'

/** The usage of a job that ran for a moment. */
export const usageSample: Sample = {
  slice: 'usage',
  async make({ ask, made, pool, send }) {
    const { project, lock } = made.fields
    const { run_id } = await ask<{ run_id: string }>({
      method: 'POST',
      path: '/api/jobs',
      body: {
        api: 'forge/v2',
        metadata: { name: 'used', project },
        lock,
        spec: { resources: { profile: 'spare', gpus_per_node: 1 } },
      },
    })
    const executor = asExecutor(pool)
    await executor.schedule(run_id, [])
    const order = await executor.launch(run_id, 1)
    const token = order?.reporting.SERVICE_TOKEN ?? ''
    const body = { run_id, event: 'running' }
    await asked(send, { token }, { method: 'POST', path: '/api/ingest/lifecycle', body })
    await executor.exited(run_id, 1, endedWell(new Date(Date.now() + 1000).toISOString()))
    return {}
  },
  lists: { '/api/usage': 'its people' },
  tables: {
    usage_runs: { seenBy: 'members', isFilled: true },
    usage_lines: { seenBy: 'members', isFilled: true },
  },
}
