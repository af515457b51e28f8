import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Selection, select } from './select.ts'
import {
  bundledPackages,
  bundleOf,
  makeBundle,
  makeServerBundle,
  serverBundle,
} from './servers/bundles.ts'
import { compiled } from './servers/compiled.ts'
import { leaveMemory } from './servers/in-memory.ts'
import { lendLanes } from './servers/lane.ts'
import { isAlive } from './servers/processes.ts'
import { runVariables } from './servers/run-variables.ts'
import { until } from './servers/until.ts'
import { auditNotes, type Counts, countsOf, durationsIn, summarize } from './summary.ts'
import { type Needed, needsOf, type Tier, tiersOf } from './tiers.ts'

// `npm test`: biome, tsc and knip alongside ava, with real servers, each started when the first test asks for it.
// test/README.md describes the options.
const args = process.argv.slice(2)
const isRecording = args[0] === '--record'
const ahead = new URL('servers/ahead.ts', import.meta.url)
const isCi = process.env.CI === 'true'
const began = performance.now()

const running = new Set<ChildProcess>()
let interrupted: NodeJS.Signals | null = null
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    interrupted = signal
    // Ctrl-C in a terminal reaches the children as well; a SIGTERM reaches only this process.
    if (signal === 'SIGTERM') for (const child of running) child.kill(signal)
  })

process.exitCode = await test()

async function test(): Promise<number> {
  const selection = await select(isRecording ? args.slice(1) : args)
  const { files, isWhole } = selection
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-run-'))
  // Some servers run as other users.
  await chmod(folder, 0o755)
  try {
    const missing = await missingParts(files)
    const tiers = await tiersOf(
      files,
      missing.map(({ name }) => name),
    )
    const lanes = await lendLanes(join(folder, 'lanes.sock'), widthOf(tiers))
    const checking = isWhole ? check() : Promise.resolve({ failed: [], notes: [] })
    const variables = variablesOf(folder, selection)
    // They take longer than anything else that a file waits for, so they do not wait for the file that asks first.
    const preparing = tiers.some(({ needsSamples }) => needsSamples)
      ? runNode([fileURLToPath(ahead), 'samples'], variables, false)
      : null
    const ran = await runTiers(tiers, { ...lanes.variables, ...variables })
    await preparing
    const checked = await checking
    lanes.close()
    const slowest = await durationsIn(join(folder, 'durations'))
    if (isRecording && !interrupted) await record(slowest)
    const notes = [
      ...missing.map(({ name, fault }) => `Not run: the tests that need ${name}. ${fault}`),
      ...checked.notes,
      ...auditNotes(process.env),
    ]
    const minutes = (performance.now() - began) / 60_000
    const counts = {
      passed: ran.passed,
      failed: ran.failed + checked.failed.length,
      failures: [...ran.failures, ...checked.failed],
    }
    process.stdout.write(summarize({ ...counts, minutes, slowest, notes }))
    if (interrupted) return 130
    return ran.code || (checked.failed.length > 0 || (missing.length > 0 && isCi) ? 1 : 0)
  } finally {
    await endServers(folder)
    await rm(folder, { recursive: true, force: true })
    await leaveMemory(folder)
  }
}

function variablesOf(folder: string, { isWhole, slice }: Selection): Record<string, string> {
  return {
    [runVariables.folder]: folder,
    [runVariables.pid]: String(process.pid),
    FORGE_TEST_ENVIRONMENTS: join(folder, 'environments'),
    ...(slice !== undefined && { [runVariables.slice]: slice }),
    ...(isWhole && { [runVariables.server]: serverBundle }),
  }
}

function widthOf(tiers: readonly Tier[]): number {
  return tiers.reduce((sum, { width }) => sum + width, 0)
}

async function missingParts(files: readonly string[]): Promise<{ name: Needed; fault: string }[]> {
  const needed = await needsOf(files)
  if (needed.length === 0) return []
  const { bring, lacks } = await import('./setup.ts')
  const found = await Promise.all(
    needed.map(async name => ({ name, fault: await (isCi ? bring(name) : lacks(name)) })),
  )
  return found.flatMap(({ name, fault }) => (fault === null ? [] : [{ name, fault }]))
}

/** Returns the names of the checks that fail, after printing their output, and what the summary should mention. */
async function check(): Promise<{ failed: string[]; notes: string[] }> {
  const failed: string[] = []
  const tools = ['biome ci', 'tsc', 'knip'].map(command => {
    const [name = '', ...words] = command.split(' ')
    return { name: command, words: [join('node_modules', '.bin', name), ...words] }
  })
  const repeats = { name: 'repeats', words: [join('test', 'repeats.ts')] }
  let pairs = ''
  for (const tool of [...tools, repeats]) {
    const { code, output } = await runNode(tool.words, {}, false)
    if (interrupted) continue
    if (tool === repeats) pairs = output.split('\n', 1)[0] ?? ''
    if (code === 0) continue
    process.stdout.write(`\n${output}\n`)
    failed.push(`${tool.name} (exit ${code})`)
  }
  return { failed, notes: [pairs].filter(Boolean) }
}

/** Runs all tiers at the same time, each at its full width. */
async function runTiers(
  tiers: readonly Tier[],
  variables: Record<string, string>,
): Promise<Counts & { code: number }> {
  await Promise.all([
    bundlePackages(),
    ...(variables[runVariables.server] === undefined ? [] : [makeServerBundle()]),
  ])
  if (tiers.some(({ needsConsole }) => needsConsole)) {
    const { buildConsole } = await import('../server/console/build.ts')
    // Once; otherwise the first servers of all files would do it at the same time.
    await buildConsole(text => process.stderr.write(`${text}\n`))
  }
  // A limit for the whole run to produce any result; each test has its own.
  const patience = isCi ? ['--timeout', '15m'] : []
  const ran = await Promise.all(
    tiers.map(async ({ files, width }) => {
      const words = [...patience, '--concurrency', String(width), ...files]
      const { code, output } = await runNode(
        [join('node_modules', '.bin', 'ava'), ...words],
        variables,
        true,
      )
      return { ...countsOf(output), code }
    }),
  )
  return {
    passed: ran.reduce((sum, { passed }) => sum + passed, 0),
    failed: ran.reduce((sum, { failed }) => sum + failed, 0),
    failures: ran.flatMap(({ failures }) => failures),
    code: ran.find(({ code }) => code !== 0)?.code ?? 0,
  }
}

/** Without a bundle, each thread loads the modules of the package one by one. */
async function bundlePackages(): Promise<void> {
  const missing = bundledPackages.filter(name => !existsSync(bundleOf(name)))
  await Promise.all(missing.map(makeBundle))
}

async function runNode(
  words: readonly string[],
  variables: Record<string, string>,
  isShown: boolean,
): Promise<{ code: number; output: string }> {
  if (interrupted) return { code: 130, output: '' }
  const child = spawn(process.execPath, words, {
    stdio: ['inherit', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: compiled,
      ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
      ...variables,
    },
  })
  running.add(child)
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (isShown) process.stdout.write(chunk)
    })
  const code = await new Promise<number>(resolve => {
    child.once('error', () => resolve(1))
    child.once('close', ended => resolve(interrupted ? 130 : (ended ?? 1)))
  })
  running.delete(child)
  return { code, output: Buffer.concat(chunks).toString() }
}

async function record(slowest: Awaited<ReturnType<typeof durationsIn>>): Promise<void> {
  const rows = [...slowest].sort((one, other) => (one.file < other.file ? -1 : 1))
  const seconds = Object.fromEntries(rows.map(({ file, seconds }) => [file, seconds]))
  const path = join(import.meta.dirname, 'durations.json')
  await writeFile(path, `${JSON.stringify(seconds, null, 2)}\n`)
}

/** A server removes its own folder when it has stopped. */
async function endServers(folder: string): Promise<void> {
  const names = await readdir(folder)
  const pids = await Promise.all(
    names.map(name => readFile(join(folder, name, 'pid'), 'utf8').catch(() => null)),
  )
  for (const pid of pids) if (pid !== null) askToStop(Number(pid))
  await until('the servers of the tests have stopped', 30_000, async () => {
    const left: string[] = await readdir(folder).catch(() => [])
    return names.every(
      (name, place) => !isAlive(Number(pids[place] ?? Number.NaN)) || !left.includes(name),
    )
  })
}

function askToStop(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (error) {
    // It has already ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
