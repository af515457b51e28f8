import test from 'ava'
import { asExecutor } from '../servers/as-executor.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'

const roles = 'command-api,relay,projector,query-api'
const theForge = sharedForge({ SERVICE_ROLES: roles })

const spare = { resources: { profile: 'spare', gpus_per_node: 1 } }

/** The variables with which the first attempt of a job is launched to report. */
async function reportingOf(forge: Forge, env: Record<string, string>) {
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

test('a job gets the address to report to with MLflow, with the token of its run', async t => {
  t.timeout(patient(120_000))
  const { run_id, order } = await reportingOf(await theForge(), {})
  t.like(order?.reporting, {
    MLFLOW_TRACKING_URI: 'http://127.0.0.1:9/api/ingest/mlflow',
    MLFLOW_TRACKING_TOKEN: order?.reporting.SERVICE_TOKEN,
    MLFLOW_RUN_ID: run_id,
  })
})

test('a job that names another MLflow server keeps it', async t => {
  t.timeout(patient(120_000))
  const own = { MLFLOW_TRACKING_URI: 'http://mlflow.example' }
  const { order } = await reportingOf(await theForge(), own)
  t.deepEqual(order?.env, own)
  t.deepEqual(
    Object.keys(order?.reporting ?? {}).filter(name => name.startsWith('MLFLOW')),
    [],
  )
})
