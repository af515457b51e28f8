import test from 'ava'
import { commit } from '../../command-api/commit/commit.ts'
import { deploymentAt } from '../../events/deployments.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { type ForgeProcess, startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { withoutExecutor } from '../usage/jobs-at-times.ts'
import { endJob, make, prepared, runJob, specFor, submit, untilLive, untilState } from './steps.ts'

/** How often the server is killed in each pause between two steps; more by hand: `KILLS=10`. */
const kills = Number(process.env.KILLS ?? 1)

async function killed(forge: ForgeProcess): Promise<void> {
  for (let nth = 0; nth < kills; nth++) {
    await forge.kill()
    await forge.start()
  }
}

test('train, train from its checkpoint, deploy: each once, although the server is killed at every step', async t => {
  t.timeout(patient(240_000 + kills * 120_000))
  const forge = await startForgeProcess(t, withoutExecutor)
  await prepared(forge)
  const spec = await specFor(forge, 'killed')
  const { body: made } = await make(forge, {
    stages: [
      { name: 'train', spec },
      { name: 'polish', spec, init_from_stage: 'train' },
      { name: 'serve', deploy: { name: 'tutor', serving: { template: 'tiny-lm' } } },
    ],
  })
  t.truthy(made.plan_id, JSON.stringify(made))
  const { plan_id } = made
  const submitted = await submit(forge, plan_id)
  t.is(submitted.status, 200, JSON.stringify(submitted.body))
  await killed(forge)
  for (const run_id of submitted.body.submitted_run_ids) {
    t.deepEqual(await untilLive(forge, plan_id, 1), [run_id])
    await killed(forge)
    const run = await runJob(forge, run_id, { checkpoint: `/c/${run_id}`, loss: [1] })
    await killed(forge)
    await endJob(forge, run)
    await killed(forge)
  }
  const deployed = await until('it is deployed', 90_000, async () => {
    const { rows } = await forge.pool.query<{ id: string; revision: string }>(
      `select data ->> 'deployment_id' as id, data ->> 'revision_id' as revision
         from write.event where type = 'deployment.revision_created'`,
    )
    return rows[0]
  })
  await killed(forge)
  await markReady(forge, deployed)
  await killed(forge)
  const plan = await untilState(forge, plan_id, 'succeeded')
  t.is(plan.stages[2]?.deployment_id, deployed.id)
  const { rows } = await forge.pool.query<{ type: string; count: number }>(
    `select type, count(*)::int from write.event
      where type in ('job.admitted', 'deployment.created') or type like 'plan.%'
      group by type order by type`,
  )
  const counts = Object.fromEntries(rows.map(({ type, count }) => [type, count]))
  // Replicas of the deployment are jobs, too.
  const { rows: jobs } = await forge.pool.query('select from write.job_state where serving is null')
  t.is(jobs.length, 2)
  t.like(counts, {
    'deployment.created': 1,
    'plan.submitted': 1,
    'plan.stage_started': 3,
    'plan.run_ended': 2,
    'plan.stage_succeeded': 3,
    'plan.succeeded': 1,
  })
})

/** As the engine's first successful check does. */
async function markReady(
  { pool }: Pick<ForgeProcess, 'pool'>,
  of: { id: string; revision: string },
) {
  const by = { actor: { type: 'system', id: 'test', via: 'test' }, requestId: 'test' } as const
  const deps = { store: eventStoreOn(pool), now: () => new Date() }
  await commit(deps, by, deploymentAt(of.id), {
    decide: () => [
      {
        type: 'deployment.revision_ready' as const,
        data: { deployment_id: of.id, revision_id: of.revision, checks: [], load_s: 1 },
      },
    ],
  })
}
