import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { pointsArrive } from '../clients/python/scripts.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { pythonWith } from '../servers/python-packages.ts'

const theForge = sharedForge()
const run = promisify(execFile)

type Created = { run_id: string; short_id: string; token: string; env: Record<string, string> }

const createRun = async (forge: Forge): Promise<Created> =>
  (await forge.call<Created>('POST', '/api/runs', { body: { project: 'demo' } })).body

/** The output lines of a script in this folder; MLflow's client has only these variables. */
async function script(t: ExecutionContext, name: string, env: Record<string, string>) {
  t.timeout(patient(400_000))
  const python = await pythonWith(join(import.meta.dirname, 'requirements.txt'))
  const { stdout } = await run(python, [join(import.meta.dirname, name)], {
    env: { PATH: process.env.PATH, MLFLOW_HTTP_REQUEST_MAX_RETRIES: '1', ...env },
  })
  return stdout.trim().split('\n')
}

/** Without the client's messages about addresses. */
const printed = (lines: readonly string[]) => lines.filter(line => /^[a-z]/.test(line))

test('an unmodified MLflow script reports to the run that it was started for', async t => {
  const forge = await theForge()
  const created = await createRun(forge)
  const { run_id } = created
  t.deepEqual(printed(await script(t, 'tracking.py', created.env)), [
    'refused INVALID_PARAMETER_VALUE True',
    `run ${run_id}`,
    'metrics 0.2 0.75',
    "read [('lr', '0.001'), ('optimizer', 'adam')] vision first try FINISHED",
    'tags False x photos',
  ])
  const points = await pointsArrive(forge, run_id, 8)
  t.deepEqual(
    points.map(({ key, step, value }) => `${key} ${step} ${value}`),
    [
      ...['acc 4 0.75', 'far 4 -Infinity', 'loss 0 1', 'loss 1 0.5', 'loss 2 0.3333333333333333'],
      ...['loss 3 0.25', 'loss 4 0.2', 'odd 4 NaN'],
    ],
  )
  const { body: hparams } = await forge.call<{ params: object }>(
    'GET',
    `/api/runs/${run_id}/hparams`,
  )
  t.deepEqual(hparams.params, { lr: '0.001', optimizer: 'adam' })
  // Its process continues: MLflow's end of a run is not the end of its process.
  t.like((await forge.call('GET', `/api/runs/${run_id}`)).body, {
    state: 'pending',
    ended_at: null,
    labels: { team: 'vision', note: 'x', 'experiment.area': 'photos' },
  })
})

test('batches, artifacts and searches of running code stay within its run', async t => {
  const forge = await theForge()
  const { run_id, env } = await createRun(forge)
  t.deepEqual(printed(await script(t, 'reading.py', env)), [
    "root [('config.json', False), ('note.txt', False), ('out', True)]",
    "out [('out/plots/a b.txt', False, 3), ('out/plots/deep', True, None)]",
    'note two',
    "downloaded ['empty.txt', 'plots/a b.txt', 'plots/deep/c.txt', 'readme.txt'] aé",
    'own [True] 7',
    'other True',
  ])
  const { body } = await forge.call<{ kind: string; format: string; status: string }[]>(
    'GET',
    `/api/runs/${run_id}/artifacts`,
  )
  t.deepEqual(
    [...new Set(body.map(({ kind, format }) => `${kind} ${format}`))],
    ['eval_report mlflow'],
  )
  t.is((await pointsArrive(forge, run_id, 1000)).length, 1000)
})

test('people track, search and continue their own runs with an access token', async t => {
  const forge = await theForge()
  const env = { MLFLOW_TRACKING_URI: forge.url, MLFLOW_TRACKING_TOKEN: forge.token }
  t.deepEqual(printed(await script(t, 'people.py', env)), [
    "all ['lr 0.001', 'lr 0.01', 'lr 0.1']",
    "metric ['lr 0.01', 'lr 0.001']",
    "param ['lr 0.1']",
    "tag ['lr 0.01']",
    'none []',
    "top ['lr 0.001']",
    'history [(1, 0.2), (2, 0.1)]',
    'again True',
    'refused INVALID_PARAMETER_VALUE',
    'refused RESOURCE_DOES_NOT_EXIST',
    'refused RESOURCE_ALREADY_EXISTS',
    'refused INVALID_PARAMETER_VALUE',
    "area {'area': 'photos'}",
    "experiments ['demo', 'vision']",
    'named my-experiment-1 My experiment 1 My experiment 1',
    'found 2',
    "searched ['my-experiment-1']",
    'chinese experiment-17p1hpr True None',
    "refused INVALID_PARAMETER_VALUE INVALID_PARAMETER_VALUE: The experiment 'my EXPERIMENT 1' would be the project my-experiment-1, which exists already; use mlflow.set_experiment('my-experiment-1'), or another name",
  ])
  const { body: project } = await forge.call<{ notes: string }>(
    'GET',
    '/api/projects/my-experiment-1',
  )
  t.is(project.notes, 'MLflow experiment: My experiment 1')
  const { body: runs } = await forge.call<{ name: string; state: string; source: string }[]>(
    'GET',
    '/api/runs?project=vision&sort=created_at',
  )
  t.deepEqual(
    runs.map(({ name, state, source }) => [name, state, source]),
    ['lr 0.1', 'lr 0.01', 'lr 0.001'].map(name => [name, 'succeeded', 'external']),
  )
})
