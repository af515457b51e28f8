import { commit } from '../../command-api/commit/commit.ts'
import { attemptEnded } from '../../command-api/jobs/attempt-end.ts'
import { executorRunning, pause, report, resume, schedule } from '../../command-api/jobs/decide.ts'
import { saveJob } from '../../command-api/jobs/rows.ts'
import { type Job, jobAt } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import type { Forge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

/** A server without an executor, so that a test decides when and how its jobs change. */
export const withoutExecutor = { SERVICE_ROLES: 'command-api,relay,projector,query-api' }

export const setPrice = (forge: Forge, price_per_gpu_hour: string) =>
  forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 8, executor: 'local', price_per_gpu_hour },
  })

export async function submit(forge: Forge, project: string, token: string, more: object = {}) {
  const lock = (await forge.call<object>('GET', '/api/recipes/digits/1.0.0/lock')).body
  const { status, body } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    token,
    body: {
      api: 'forge/v2',
      metadata: { name: 'job', project },
      lock,
      spec: { resources: { profile: 'spare', gpus_per_node: 2 }, ...more },
    },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.run_id
}

const by = { actor: { type: 'system', id: 'test', via: 'test' }, requestId: 'test' } as const

/** Changes a job by its own rules, at times chosen by a test. */
export function jobsAtTimes({ pool }: Pick<Forge, 'pool'>) {
  const store = eventStoreOn(pool)
  const change = (run_id: string, at: string, decide: (job: Job) => JobEvent[]) =>
    commit({ store, now: () => new Date(at) }, by, jobAt(run_id), { decide, alongside: saveJob })
  const placement = { executor: 'local', nodes: ['here'], gpu_indexes: [] }
  return {
    /** The next attempt starts, and reports that it runs. */
    async run(run_id: string, at: string) {
      await change(run_id, at, job => schedule(job, placement))
      await change(run_id, at, job => executorRunning(job, job.attempt, at))
      await change(run_id, at, job =>
        report(job, {
          event: 'running',
          attempt: null,
          phase: null,
          exit_code: null,
          message: null,
          at,
        }),
      )
    },
    /** Its processes end with this code, and its GPUs are released. */
    async exit(run_id: string, at: string, exit_code = 1) {
      const exit = { exit_code, signal: null, oom_killed: false, launch_error: null, ended_at: at }
      await change(run_id, at, job =>
        attemptEnded(job, { attempt: job.attempt, exit, was_running: true, preempted: false }),
      )
    },
    async pause(run_id: string, at: string) {
      const asked = { message: null, graceSeconds: null, force: false, now: new Date(at) }
      await change(run_id, at, job => pause(job, asked))
    },
    async resume(run_id: string, at: string) {
      await change(run_id, at, job => resume(job, null))
    },
  }
}

/** All decisions are visible in the read models. */
export const settled = ({ pool }: Forge) =>
  until('everything is projected', 20_000, async () => {
    const { rows } = await pool.query(
      `select (select coalesce(sum(version), 0) from read.stream_head) = (select count(*) from write.event) as done`,
    )
    return rows[0]?.done
  })

/** Rebuilds all read models. */
export async function rebuilt(forge: Forge): Promise<void> {
  await forge.call('POST', '/api/admin/projections/all/rebuild')
  await until('the rebuild is over', 30_000, async () => {
    const { body } = await forge.call<{ rebuild: { state: string } }>(
      'GET',
      '/api/admin/projections',
    )
    return body.rebuild.state === 'succeeded'
  })
}
