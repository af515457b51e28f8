import { chmod, cp } from 'node:fs/promises'
import path from 'node:path'
import test from 'ava'
import { openLocalExecutor } from '../../executor/local/local-executor.ts'
import { hostEnvironment } from '../../executor/node/environment.ts'
import type { IsolationSetting } from '../../executor/node/isolation.ts'
import { pythonClient, recipeCommand } from '../../executor/preparation/recipe-command.ts'
import { builtInRecipes } from '../../recipes/catalogue.ts'
import { recipeDigest } from '../../recipes/digest.ts'
import { exitOf, launch } from '../executor/attempts.ts'
import { isolationAt, systemPython } from '../executor/bench.ts'
import { outputOf } from '../executor/output.ts'
import { givenCommand, preparedBy } from '../executor/preparations.ts'
import { whatHolds } from '../executor/what-holds.ts'
import { commandLine } from '../servers/command-line.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { folder } from './tiny-recipe.ts'

const modes = Object.entries({ ...(await whatHolds()), none: null })
  .filter(([, fault]) => fault === null)
  .map(([mode]) => mode as IsolationSetting)

const short = { steps: 20, lr: 1, samples: 200, features: 4, eval_every: 10, checkpoint_every: 10 }

type Shown = {
  job: { nodes: number; gpus: number; attempts: { nodes: string[]; exit_code: number | null }[] }
}

test.serial('it is submitted, trains on two nodes, and its log says which said what', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const params = Object.entries(short).flatMap(([name, value]) => ['--param', `${name}=${value}`])
  const submit = ['submit', '--recipe', 'data-parallel', '--project', 'demo', ...params]
  const often = ['--set', 'spec.checkpoints.every_steps=5']
  const followed = await run([...submit, ...often, '--follow', '--json'])
  t.is(followed.code, 0, followed.stderr + followed.stdout.slice(-3000))
  const { results, artifacts } = JSON.parse(followed.stdout.trimEnd().split('\n').at(-1) ?? '')
  t.true(results['val/accuracy'] > 0.6, JSON.stringify(results))
  t.is(artifacts.length, 4)
  const { body: job } = await forge.call<Shown['job']>('GET', '/api/jobs/demo-1')
  t.like(job, { nodes: 2, gpus: 2, attempts: [{ nodes: ['local-0', 'local-1'] }] })
  const said = async (rank: number) => (await run(['logs', 'demo-1', '--rank', `${rank}`])).stdout
  t.regex(await said(0), /rank 0 of 2 on .*: 100 of 200 samples/)
  t.regex(await said(0), /3 steps on all nodes match one process/)
  t.regex(await said(0), /all 2 ranks hold the same weights/)
  t.notRegex(await said(1), /rank 0|3 steps/)
  t.regex(await said(1), /^rank 1 of 2 on .*: 100 of 200 samples$/m)
})

for (const mode of modes)
  test.serial(`its ranks find each other where runs are isolated by ${mode}`, async t => {
    const { exit, outputs } = await trained(await placesOf(await folder(t)), mode, 2)
    t.like(exit, { exit_code: 0, launch_error: null }, outputs.join('\n'))
    t.regex(outputs[0] ?? '', /3 steps on all nodes match one process/)
    t.regex(outputs[1] ?? '', /rank 1 of 2/)
  })

test.serial('it fails on one node, and says what to do', async t => {
  const { exit, outputs } = await trained(await placesOf(await folder(t)), 'none', 1)
  t.is(exit.exit_code, 1)
  t.regex(outputs[0] ?? '', /submit this recipe with spec.resources.nodes of 2 or more/)
})

/** Copies, as users of runs cannot reach every folder of this repository's machine. */
async function placesOf(root: string) {
  await chmod(root, 0o711)
  const [recipe, client] = [path.join(root, 'recipe'), path.join(root, 'client')]
  await cp(path.join(builtInRecipes, 'data-parallel'), recipe, { recursive: true })
  await cp(pythonClient, client, { recursive: true })
  return { root, recipe, client }
}

/** Runs the recipe without a server. */
async function trained(
  { root, recipe, client }: Awaited<ReturnType<typeof placesOf>>,
  mode: IsolationSetting,
  nodes: number,
) {
  const runsDirectory = path.join(root, 'runs')
  const environments = path.join(root, 'environments')
  const executor = await openLocalExecutor({
    runsDirectory,
    isolation: await isolationAt(runsDirectory, mode),
    fakeGpus: 4,
    hostEnvironment: hostEnvironment(process.env),
    preparationCommand: givenCommand,
    now: () => new Date(),
  })
  const command = recipeCommand({
    recipe_directory: recipe,
    digest: await recipeDigest(recipe),
    runtime_id: 'rt_test',
    entrypoint: 'train.py',
    attempt: 1,
    package: null,
    starts: null,
    data: null,
    volumes: [],
    environments_directory: environments,
    client_directory: client,
    python: systemPython,
  })
  const env = { SERVICE_ENABLED: '0' }
  const input = JSON.stringify({ ...short, join_timeout_s: 120, seed: 0 })
  const ref = await executor.submit(
    launch({ nodes, env, preparation: preparedBy(command, { env, input }) }),
  )
  const exit = await exitOf(executor, ref)
  const printed = Array.from({ length: nodes }, (_, rank) => outputOf(executor, ref, rank))
  const outputs = (await Promise.all(printed)).map(({ stdout, stderr }) => `${stdout}${stderr}`)
  return { exit, outputs }
}
