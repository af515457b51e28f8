import { randomBytes } from 'node:crypto'
import { asExecutor, endedWell } from '../servers/as-executor.ts'
import { dutiesAreDone } from '../servers/decisions-done.ts'
import type { Forge } from '../servers/forge.ts'
import { type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { storing } from './storing.ts'

/** Jobs whose code reports checkpoints; started as an executor would, but without a machine. */
export async function jobsWithCheckpoints(forge: Forge) {
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 1, executor: 'local' },
  })
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const executor = asExecutor(forge.pool)

  const submit = async (project: string, spec: object) => {
    const body = {
      ...{ api: 'forge/v2', metadata: { name: 'n', project }, lock },
      spec: { resources: { profile: 'spare' }, ...spec },
    }
    const answer = await forge.call<{ run_id: string; short_id: string }>('POST', '/api/jobs', {
      body,
    })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return answer.body
  }

  return {
    submit,
    /** Starts an attempt; returns the means by which its code reports. */
    async start({ run_id, short_id }: { run_id: string; short_id: string }, attempt = 1) {
      const scheduled = await executor.schedule(run_id, [])
      if (scheduled !== 'scheduled') throw new Error(`${run_id} is ${scheduled}`)
      const { reporting, resume_from } = await executor.launch(run_id, attempt)
      const run = { run_id, short_id, token: reporting.SERVICE_TOKEN }
      const { store, register } = storing(forge, run)
      return {
        ...run,
        resume_from,
        register,
        /** Stores a checkpoint of this size; returns once it is verified. */
        async checkpoint(step: number, metrics: object = {}, size = 1000) {
          const bytes = randomBytes(size)
          const artifact = await store(bytes, `step-${step}`, step, metrics)
          return { ...artifact, bytes }
        },
      }
    },
    /** Pauses a job whose attempt ends at once. */
    async pause(run_id: string) {
      const answer = await forge.call('POST', `/api/jobs/${run_id}/pause`, {
        body: { force: true },
      })
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      await executor.exited(run_id, 1, endedWell())
    },
    async end(run: ExternalRun, attempt = 1) {
      for (const event of ['running', 'succeeded']) await ingest(forge, run, 'lifecycle', { event })
      await executor.exited(run.run_id, attempt, endedWell())
    },
    /** All open duties of the run. */
    settled: (run_id: string) =>
      until('its duties are done', 30_000, () => dutiesAreDone(forge.pool, run_id)),
  }
}
