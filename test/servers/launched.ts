import { asExecutor } from './as-executor.ts'
import type { Forge } from './forge.ts'

const spare = { resources: { profile: 'spare', gpus_per_node: 1 } }

/** Submits a job with these variables, and launches its first attempt as its executor does. */
export async function launched(forge: Forge, env: Record<string, string>) {
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 8, executor: 'local' },
  })
  const metadata = { name: 'first', project: 'demo' }
  const { body, status } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: { api: 'forge/v2', metadata, lock, spec: { ...spare, env } },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  const executor = asExecutor(forge.pool)
  await executor.schedule(body.run_id, [])
  return { run_id: body.run_id, order: await executor.launch(body.run_id, 1) }
}
