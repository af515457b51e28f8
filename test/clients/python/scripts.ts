import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Forge } from '../../servers/forge.ts'
import { createRun, type ExternalRun } from '../../servers/runs.ts'
import { until } from '../../servers/until.ts'

export const pythonClient = join(import.meta.dirname, '../../../clients/python/src')

export type Point = { key: string; step: number; value: number }
export type Ended = { code: number | null; signal: NodeJS.Signals | null; tookMs: number }
export type Script = {
  /** Standard output and standard error so far. */
  out(): string
  err(): string
  /** Writes a line to its standard input. */
  say(line: string): void
  kill(signal: NodeJS.Signals): void
  ended: Promise<Ended>
}

/** Python code in a separate process, with `import forge` and nothing else of our environment. */
export function python(
  t: ExecutionContext,
  code: string | readonly string[],
  env: Record<string, string>,
): Script {
  const { PATH } = process.env
  const args = typeof code === 'string' ? ['-c', code] : code
  const began = performance.now()
  const child: ChildProcess = spawn('python3', args, {
    env: { PATH, PYTHONPATH: pythonClient, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout?.on('data', chunk => {
    out += chunk
  })
  child.stderr?.on('data', chunk => {
    err += chunk
  })
  child.stdin?.on('error', () => {})
  t.teardown(() => child.kill('SIGKILL'))
  return {
    out: () => out,
    err: () => err,
    say: line => void child.stdin?.write(`${line}\n`),
    kill: signal => child.kill(signal),
    ended: new Promise(resolve =>
      child.once('close', (ended, signal) =>
        resolve({ code: ended, signal, tookMs: performance.now() - began }),
      ),
    ),
  }
}

/** The variables that let a script report to this run. */
export const reportingTo = (
  { url }: Forge,
  { run_id, token }: { run_id: string; token: string },
): Record<string, string> => ({
  SERVICE_ENABLED: '1',
  SERVICE_ENDPOINT: `${url}/api/ingest`,
  SERVICE_RUN_ID: run_id,
  SERVICE_TOKEN: token,
})

/** Starts code that reports to a new run, with its reports spooled in an empty folder. */
export async function scriptOfNewRun(
  t: ExecutionContext,
  forge: Forge,
  code: string,
  env: Record<string, string> = {},
): Promise<{ run: ExternalRun; script: Script }> {
  const run = await createRun(forge)
  const script = python(t, code, {
    ...env,
    ...reportingTo(forge, run),
    FORGE_SPOOL_DIR: await emptyFolder(t),
  })
  return { run, script }
}

/** An empty folder, gone after the test. */
export async function emptyFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-python-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export async function storedPoints(forge: Forge, runId: string): Promise<Point[]> {
  const path = `/api/runs/${runId}/metrics/export?format=jsonl`
  const headers = { authorization: `Bearer ${forge.token}` }
  const response = await fetch(`${forge.url}${path}`, { headers })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${text}`)
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Point)
}

/** Waits until that many points of the run can be read, and returns them. */
export const pointsArrive = (forge: Forge, runId: string, count: number): Promise<Point[]> =>
  until(`${count} points of ${runId} can be read`, 30_000, async () => {
    const points = await storedPoints(forge, runId).catch(() => [])
    return points.length >= count && points
  })
