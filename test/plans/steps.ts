import { issueIngestToken } from '../../command-api/rules/ingest-tokens.ts'
import type { PlanDetail, PlanRunRow } from '../../schemas/plans.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import type { Forge } from '../servers/forge.ts'
import { type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'
import { jobsAtTimes, setPrice } from '../usage/jobs-at-times.ts'

type Called = Pick<Forge, 'call'>
export type Made = {
  plan_id: string
  digest: string
  state: string
  gates: { stage: string; gate: string; ok: boolean }[]
  estimate: { gpu_hours: string } | null
  detail: string
  code: string
}
export type Submitted = {
  state: string
  digest: string
  submitted_run_ids: string[]
  detail: string
  code: string
  gate: string
  data: { digest: string; moved: { stage: string; what: string; from: string; to: string }[] }
}

/** A profile that jobs may ask for although nothing starts them. */
export const prepared = (forge: Forge) => setPrice(forge, '2.50')

export async function specFor({ call }: Called, project: string, more: object = {}) {
  const { body: lock } = await call<object>('GET', '/api/recipes/digits/1.0.0/lock')
  return {
    api: 'forge/v2',
    metadata: { name: 'job', project },
    lock,
    spec: {
      resources: { profile: 'spare', gpus_per_node: 1 },
      limits: { max_duration_s: 3600 },
      ...more,
    },
  }
}

export const make = ({ call }: Called, body: object, token?: string) =>
  call<Made>('POST', '/api/plans', { body, ...(token !== undefined && { token }) })

export const submit = ({ call }: Called, plan_id: string, body: object = {}, token?: string) =>
  call<Submitted>('POST', `/api/plans/${plan_id}/submit`, {
    body,
    ...(token !== undefined && { token }),
  })

export const read = async ({ call }: Called, plan_id: string): Promise<PlanDetail> =>
  (await call<PlanDetail>('GET', `/api/plans/${plan_id}`)).body

export const runsOf = async ({ call }: Called, plan_id: string): Promise<PlanRunRow[]> =>
  (await call<PlanRunRow[]>('GET', `/api/plans/${plan_id}/runs?limit=500`)).body

export const untilState = (forge: Called, plan_id: string, state: string): Promise<PlanDetail> =>
  until(`the plan is ${state}`, 60_000, async () => {
    const plan = await read(forge, plan_id)
    return plan.state === state && plan
  })

/** The runs of a plan that exist and have not ended, once there are so many. */
export const untilLive = ({ pool }: Pick<Forge, 'pool'>, plan_id: string, count: number) =>
  until(`${count} runs are live`, 60_000, async () => {
    const { rows } = await pool.query<{ run_id: string }>(
      `select j.run_id from write.job_state j join write.plan_part p on p.part_id = j.run_id
        where p.plan_id = $1 and j.state not in ('succeeded', 'failed', 'stopped') order by j.short_id`,
      [plan_id],
    )
    return rows.length >= count && rows.map(({ run_id }) => run_id)
  })

/** What the code of a run reports before it ends. */
export type Reported = { checkpoint?: string; loss?: readonly number[] }

/** Runs a queued job as its executor and its code would. */
export async function runJob(
  forge: Forge,
  run_id: string,
  { checkpoint, loss = [] }: Reported = {},
): Promise<ExternalRun> {
  const at = jobsAtTimes(forge)
  await at.run(run_id, new Date().toISOString())
  const { token } = await eventStoreOn(forge.pool).transaction(tx =>
    issueIngestToken(tx, { run_id, now: new Date() }),
  )
  const run = { run_id, short_id: '', token }
  if (checkpoint !== undefined)
    await ingest(forge, run, 'artifact', {
      ...{ kind: 'checkpoint', path: checkpoint, step: loss.length, format: 'safetensors' },
    })
  if (loss.length > 0)
    await ingest(forge, run, 'metrics', {
      points: loss.map((value, step) => ({ key: 'loss', step, value })),
    })
  return run
}

/** Its code reports the end, and its processes end. */
export async function endJob(
  forge: Forge,
  run: ExternalRun,
  event: 'succeeded' | 'failed' = 'succeeded',
): Promise<void> {
  await ingest(forge, run, 'lifecycle', { event })
  await jobsAtTimes(forge).exit(run.run_id, new Date().toISOString(), event === 'failed' ? 1 : 0)
}
