import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Client, fetch } from 'undici'
import { ask } from '../../command-api/deployments/timers/probe.ts'
import { openLocalExecutor } from '../../executor/local/local-executor.ts'
import type { IsolationSetting } from '../../executor/node/isolation.ts'
import type { AttemptRef } from '../../executor/port.ts'
import { pythonClient } from '../../executor/preparation/recipe-command.ts'
import { freePort } from '../../platform/free-port.ts'
import { connectOptions, parseAddress, socketAddress } from '../../platform/http/address.ts'
import { engineProgram } from '../../recipes/templates.ts'
import { engineSocket } from '../../schemas/deployments/replicas.ts'
import { writeRecipe } from '../recipes/tiny-recipe.ts'
import { until } from '../servers/until.ts'
import { exitOf, launch } from './attempts.ts'
import { isolationAt, systemPython } from './bench.ts'
import { outputOf, untilPrinted } from './output.ts'
import { givenCommand } from './preparations.ts'

/**
 * Plays a server that runs an engine for one person and `impostor.py` for another, under the user of this process:
 * `impostor-scene.ts SETTING FOLDER`. Prints, for an engine that listens on its socket and for one that knows only ports, what the
 * impostor managed and whose responses the server believed.
 */
const [, , setting = '', root = ''] = process.argv
const data = path.join(root, 'data')
await mkdir(data, { mode: 0o711 })
const copied = async (name: string) => ({
  [name]: await readFile(new URL(name, import.meta.url), 'utf8'),
})
const template = await writeRecipe(path.join(root, 'program', 'template'), {
  ...(await copied('slow_engine.py')),
  'params.json': '{}',
})
const attack = await writeRecipe(path.join(root, 'program', 'attack'), await copied('impostor.py'))
const runsDirectory = path.join(data, 'runs')
const isolation = await isolationAt(runsDirectory, setting as IsolationSetting, {
  hidden: [data],
  readable: [path.join(root, 'program'), path.dirname(engineProgram), pythonClient],
})
const executor = await openLocalExecutor({
  runsDirectory,
  isolation,
  fakeGpus: 4,
  hostEnvironment: { PATH: process.env.PATH ?? '', HOME: '/', LANG: 'C.UTF-8' },
  preparationCommand: givenCommand,
  now: () => new Date(),
})

const signal = (ref: AttemptRef, name: string) =>
  writeFile(path.join(runsDirectory, ref, 'work', name), '', { mode: 0o644 })

function engineWith(options: string[], port: number) {
  const readiness = { path: '/health', timeout_s: 60, interval_s: 0.05 }
  const serving = { template, command: ['python', 'slow_engine.py'], options: [options], readiness }
  return launch({
    serves: true,
    command: [systemPython, '-B', engineProgram],
    env: {
      FORGE_SERVING: JSON.stringify({
        ...{ ...serving, served_names: ['m'], args: [], tensor_parallel: 1 },
      }),
      ...{ FORGE_SERVING_HOST: '127.0.0.1', FORGE_SERVING_PORT: String(port) },
      FORGE_PARAMS_FILE: path.join(template, 'params.json'),
      ...{ SERVICE_ENABLED: '0', PYTHONUNBUFFERED: '1', PYTHONPATH: pythonClient },
    },
  })
}

const attacksOf = async (ref: AttemptRef) =>
  String((await outputOf(executor, ref)).stdout).split('attacked\n').length - 1

async function played(options: string[]) {
  const port = await freePort()
  const engine = engineWith(options, port)
  const socket = engineSocket(runsDirectory, engine.run_id)
  const impostor = await executor.submit(
    launch({
      command: [systemPython, path.join(attack, 'impostor.py')],
      env: { KNOWN: JSON.stringify({ port, socket }) },
    }),
  )
  await untilPrinted(executor, impostor, 'ready\n')
  const ref = await executor.submit(engine)
  await untilPrinted(executor, ref, '[forge] starts ')
  await signal(impostor, 'attack')
  await until('it attacks', 30_000, async () => (await attacksOf(impostor)) > 0)
  const base_url = socketAddress(socket)
  const whileLoading = await smoke(base_url)
  await signal(ref, 'loaded')
  const state = await until('the engine responds or has ended', 60_000, async () => {
    const { state } = await executor.observe(ref)
    if (state === 'exited') return 'ended'
    return String((await outputOf(executor, ref)).stdout).includes('responds after') && 'responds'
  })
  const before = await attacksOf(impostor)
  const believed = state === 'ended' ? [] : await responsesOf(base_url, 20)
  await until('it attacked again', 30_000, async () => (await attacksOf(impostor)) > before + 1)
  if (state === 'responds') believed.push(...(await responsesOf(base_url, 20)))
  await signal(impostor, 'end')
  await exitOf(executor, impostor)
  await executor.stop(ref, { grace_s: 0, force: true })
  await exitOf(executor, ref)
  const said = String((await outputOf(executor, impostor)).stdout)
  const log = Object.values(await outputOf(executor, ref)).join('')
  const managed = JSON.parse(said.trim().split('\n').at(-1) ?? '')
  return { state, whileLoading, believed: [...new Set(believed)], managed, log }
}

const smoke = (base_url: string) =>
  ask(
    { base_url, header: null },
    { smoke: 'completion', model: 'm' },
    { timeoutMs: 2_000, signal: new AbortController().signal },
  )

/** Each over a separate connection. */
async function responsesOf(base_url: string, count: number): Promise<string[]> {
  const address = parseAddress(base_url)
  const all = Array.from({ length: count }, async () => {
    const dispatcher = new Client(address.origin, { connect: connectOptions(address, 10_000) })
    try {
      const response = await fetch(`${address.origin}/v1/models`, { dispatcher })
      return ((await response.json()) as { data: { id: string }[] }).data[0]?.id ?? ''
    } finally {
      await dispatcher.destroy()
    }
  })
  return Promise.all(all)
}

process.stdout.write(
  JSON.stringify({
    mode: isolation.mode,
    onSocket: await played(['{socket}']),
    onPort: await played(['{host}', '{port}']),
  }),
)
