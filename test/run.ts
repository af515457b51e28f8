import { type ChildProcess, spawn } from 'node:child_process'
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildConsole } from '../server/console/build.ts'
import { compiled } from './servers/compiled.ts'
import { type ServerName, variables } from './servers/hosted.ts'
import { startHost } from './servers/rendezvous.ts'
import { bring, lacks, type Needed } from './setup.ts'

// `npm test`: the checks, then ava with a real PostgreSQL, Kafka and Redis, each started once.
// `npm test -- test/x.test.ts` runs those files alone, without the checks.
const files = process.argv.slice(2)
const servers: ServerName[] = ['postgres', 'kafka', 's3', 'redis']
const isCi = process.env.CI === 'true'

let running: ChildProcess | null = null
let interrupted: NodeJS.Signals | null = null
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    interrupted = signal
    // Ctrl-C in a terminal reaches the child as well; a SIGTERM reaches only this process.
    if (signal === 'SIGTERM') running?.kill(signal)
  })

process.exitCode = (files.length === 0 && (await check())) || (await test())

/** Returns the exit code of the first check that fails, else 0. */
async function check(): Promise<number> {
  for (const [tool, ...args] of [['biome', 'ci'], ['tsc'], ['knip']] as const) {
    const code = await runTool(tool, args)
    if (code !== 0) return code
  }
  return 0
}

async function test(): Promise<number> {
  // Once, or the first servers of all files would do it at the same time.
  await buildConsole(text => process.stderr.write(`${text}\n`))
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-run-'))
  const started = await Promise.all(servers.map(name => start(name, folder)))
  const dump = await (isCi ? bring('dump') : lacks('dump'))
  const missing: { name: Needed; fault: string }[] = [
    ...started.flatMap(server => ('fault' in server ? [server] : [])),
    ...(dump === null ? [] : [{ name: 'dump' as const, fault: dump }]),
  ]
  try {
    const environments = join(folder, 'environments')
    const addresses = started.flatMap(server =>
      'address' in server ? [[variables[server.name], server.address]] : [],
    )
    const code = await runAva(
      missing.map(({ name }) => name),
      { ...Object.fromEntries(addresses), FORGE_TEST_ENVIRONMENTS: environments },
    )
    for (const { name, fault } of missing)
      process.stderr.write(`\nNot run: the tests that need ${name}. ${fault}\n`)
    return code === 0 && missing.length > 0 && isCi ? 1 : code
  } finally {
    await Promise.all(started.map(server => server.stop()))
    await rm(folder, { recursive: true, force: true })
  }
}

async function runAva(
  without: readonly Needed[],
  addresses: Record<string, string>,
): Promise<number> {
  // Of the whole run, without any result; each test has its own.
  const patience = isCi ? ['--timeout', '15m'] : []
  if (without.length === 0) return await runTool('ava', [...patience, ...files], addresses)
  const chosen = await runnable(without)
  // Without names of files, ava would run all.
  return chosen.length === 0 ? 0 : await runTool('ava', [...patience, ...chosen], addresses)
}

type Started = { name: ServerName; stop: () => Promise<void> } & (
  | { address: string }
  | { fault: string }
)

async function start(name: ServerName, folder: string): Promise<Started> {
  const missing = isCi ? await bring(name) : null
  if (missing !== null) return { name, fault: missing, stop: async () => {} }
  const host = await startHost(name, join(folder, name))
  return { name, stop: host.stop, ...(await host.answer()) }
}

async function runTool(
  tool: string,
  args: readonly string[],
  variables: Record<string, string> = {},
): Promise<number> {
  if (interrupted) return 130
  const child = spawn(process.execPath, [join('node_modules', '.bin', tool), ...args], {
    stdio: 'inherit',
    env: { ...process.env, NODE_COMPILE_CACHE: compiled, ...variables },
  })
  running = child
  return await new Promise(resolve => {
    child.once('error', () => resolve(1))
    child.once('exit', code => resolve(interrupted ? 130 : (code ?? 1)))
  })
}

/** The test files that need none of the servers in `without`. */
async function runnable(without: readonly Needed[]): Promise<string[]> {
  const chosen: string[] = []
  for await (const file of files.length > 0 ? files : glob('test/**/*.test.ts')) {
    const text = await readFile(file, 'utf8')
    const needs = (name: Needed) =>
      text.includes(`addressOf('${name}')`) || text.includes(`// needs ${name}`)
    if (!without.some(needs)) chosen.push(file)
  }
  return chosen
}
