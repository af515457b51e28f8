import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { launched } from '../servers/launched.ts'
import { patient } from '../servers/patience.ts'

const roles = 'command-api,relay,projector,query-api'
const theForge = sharedForge({ SERVICE_ROLES: roles })

test('a job gets the address to report to with MLflow, with the token of its run', async t => {
  t.timeout(patient(120_000))
  const { run_id, order } = await launched(await theForge(), {})
  t.like(order?.reporting, {
    MLFLOW_TRACKING_URI: 'http://127.0.0.1:9/api/ingest/mlflow',
    MLFLOW_TRACKING_TOKEN: order?.reporting.SERVICE_TOKEN,
    MLFLOW_RUN_ID: run_id,
  })
})

test('a job that names another MLflow server keeps it', async t => {
  t.timeout(patient(120_000))
  const own = { MLFLOW_TRACKING_URI: 'http://mlflow.example' }
  const { order } = await launched(await theForge(), own)
  t.deepEqual(order?.env, own)
  t.deepEqual(
    Object.keys(order?.reporting ?? {}).filter(name => name.startsWith('MLFLOW')),
    [],
  )
})

test('the first report by MLflow begins a job, as one by the Python client does', async t => {
  t.timeout(patient(120_000))
  const forge = await theForge()
  const { run_id, order } = await launched(forge, {})
  const stateOf = async () => {
    const { rows } = await forge.pool.query<{ state: string }>(
      'select state from write.job_state where run_id = $1',
      [run_id],
    )
    return rows[0]?.state
  }
  t.not(await stateOf(), 'running')
  const send = (path: string, body: object, token = order?.reporting.SERVICE_TOKEN) =>
    forge.call('POST', `/api/ingest/mlflow/api/2.0/mlflow/${path}`, {
      ...{ token: token ?? null, body: { run_id, ...body } },
    })
  const tagged = await forge.call('POST', '/api/mlflow/api/2.0/mlflow/runs/set-tag', {
    body: { run_id, key: 'team', value: 'rl' },
  })
  t.not(tagged.status, 500)
  t.not(await stateOf(), 'running', 'a person is not the code of the job')
  const metrics = [{ key: 'loss', value: 1, step: 1, timestamp: 1_795_170_180_123 }]
  t.is((await send('runs/log-batch', { metrics })).status, 200)
  t.is(await stateOf(), 'running')
  t.is((await send('runs/log-batch', { metrics })).status, 200)
  const { rows } = await forge.pool.query(
    "select 1 from write.event where stream = $1 and type = 'job.running'",
    [`job-${run_id}`],
  )
  t.is(rows.length, 1, 'once')
})
