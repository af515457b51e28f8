import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import path from 'node:path'
import { pino } from 'pino'
import { loadKeys } from '../../auth/keys.ts'
import type { StartedRecord } from '../../executor/attempts/attempt-directory.ts'
import { openLocalExecutor } from '../../executor/local/local-executor.ts'
import { hostEnvironment } from '../../executor/node/environment.ts'
import type { IsolationSetting } from '../../executor/node/isolation.ts'
import { processesOfRun } from '../../executor/node/processes.ts'
import { recipeCommand } from '../../executor/preparation/recipe-command.ts'
import { startEmbeddedPostgres } from '../../platform/postgres/embedded.ts'
import { recipeDigest } from '../../recipes/digest.ts'
import { writeRecipe } from '../recipes/tiny-recipe.ts'
import { exitOf, launch, untilState } from './attempts.ts'
import { isolationAt, systemPython } from './bench.ts'
import { outputOf, untilPrinted } from './output.ts'
import { givenCommand, preparedBy } from './preparations.ts'

/**
 * Plays a server with everything that runs must not reach, under the user of this process:
 * `isolation-scene.ts SETTING FOLDER`. Prints what the run of `forbidden.py` managed.
 */
const [, , setting = '', root = ''] = process.argv
const at = (...names: string[]) => path.join(root, ...names)
const write = async (file: string, text: string, mode = 0o600) => {
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, text, { mode })
}

const data = at('data')
await mkdir(data, { mode: 0o711 })
await loadKeys(data)
const postgres = await startEmbeddedPostgres({
  directory: path.join(data, 'postgres'),
  logger: pino({ level: 'silent' }),
})
await mkdir(at('home'), { mode: 0o700 })
await write(at('home', '.pgpass'), 'secret')
await mkdir(at('program'), { mode: 0o755 })
await write(at('program', '.env'), 'SERVICE_DATABASE_URL=secret')
await write(at('opened', 'data'), 'opened', 0o644)
await write(at('opened', 'keys', 'secret'), 'secret')
await writeRecipe(at('program', 'client'), { 'forge_client.py': 'here = True\n' })
const recipe = await writeRecipe(at('program', 'recipe'), {
  'train.py': await readFile(new URL('forbidden.py', import.meta.url), 'utf8'),
  'forbidden_calls.py': await readFile(new URL('forbidden_calls.py', import.meta.url), 'utf8'),
})
const environments = path.join(data, 'environments')
await mkdir(environments)

const runsDirectory = path.join(data, 'runs')
const limits = { processes: 64, memory_bytes: 256 * 1024 ** 2 }
const isolation = await isolationAt(runsDirectory, setting as IsolationSetting, {
  needed: [environments, recipe],
  hidden: [data, at('program'), at('opened', 'keys', 'secret')],
  readable: [at('opened')],
  limits,
})
const executor = await openLocalExecutor({
  runsDirectory,
  isolation,
  fakeGpus: 4,
  hostEnvironment: hostEnvironment(process.env),
  preparationCommand: givenCommand,
  now: () => new Date(),
})
const http = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
await new Promise(resolve => http.once('listening', resolve))
const abstract = `forge-scene-${process.pid}`
const sockets = createSocketServer(connection => connection.end('secret')).listen(`\0${abstract}`)
await new Promise(resolve => sockets.once('listening', resolve))

const victim = await executor.submit(
  launch({
    command: ['sh', '-c', 'echo token > secret; echo up; exec sleep 600'],
    env: { SERVICE_TOKEN: 'token of the victim' },
  }),
)
await untilPrinted(executor, victim, 'up\n')
const earlier = launch({ command: ['sh', '-c', 'printf weights > model'] })
const granted = path.join(runsDirectory, await executor.submit(earlier), 'work', 'model')
await exitOf(executor, `${earlier.run_id}/1`)

const params = {
  server_pid: process.pid,
  victim_pid: await pidOf(victim),
  victim: path.join(runsDirectory, victim),
  data,
  settings: at('program', '.env'),
  secret_file: at('opened', 'keys', 'secret'),
  home_file: at('home', '.pgpass'),
  port: Number(new URL(postgres.url).port),
  client: at('program', 'client'),
  url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/`,
  readable: at('opened'),
  granted,
  abstract,
  oom_score_adj: Number(await readFile('/proc/self/oom_score_adj', 'utf8')),
  ...limits,
}
const own = { SERVICE_TOKEN: 'token of the attacker' }
const plan = {
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
  client_directory: at('program', 'client'),
  python: systemPython,
}
const attacker = await executor.submit(
  launch({
    preparation: preparedBy(recipeCommand(plan), { env: own, input: JSON.stringify(params) }),
    env: own,
    reads: [{ run_id: earlier.run_id, path: granted }],
  }),
)
const exit = await exitOf(executor, attacker)
const { stdout, stderr } = await outputOf(executor, attacker)
await executor.stop(victim, { grace_s: 0, force: true })
await exitOf(executor, victim)
await postgres.stop()
http.close()
sockets.close()
process.stdout.write(
  JSON.stringify({
    mode: isolation.mode,
    gaps: isolation.gaps,
    exit,
    stdout: String(stdout),
    stderr: String(stderr),
  }),
)

/** The program of a run itself, not what watches over it. */
async function pidOf(ref: string): Promise<number> {
  await untilState(executor, ref, 'running')
  const file = path.join(runsDirectory, ref, 'started.json')
  const { leader } = JSON.parse(await readFile(file, 'utf8')) as StartedRecord
  const { mark } = JSON.parse(await readFile(path.join(runsDirectory, ref, 'launch.json'), 'utf8'))
  const rows = processesOfRun(mark, [leader.pid], null)
  return Math.max(...rows.map(row => row.pid))
}
