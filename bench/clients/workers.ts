import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The measurements of one process: seconds since the epoch, and microseconds. */
type Report = {
  began: number
  returned: number
  ended: number
  slowest_us: number
  grown_mb: number
}

export type Load = { processes: number; steps: number; keys: number }

export type Measured = {
  points: number
  /** Points a second until the last call had returned. */
  returned: number
  /** Points a second until all were stored. */
  stored: number
  /** 99th percentile of one call in its process, the slowest one's, in microseconds. */
  callUs: number
  /** The maximum growth of a process's memory, in MB. */
  grownMb: number
}

type Client = {
  kind: 'forge' | 'trackio' | 'mlflow'
  /** An interpreter that has the client installed. */
  python: string
  env: Record<string, string>
}

const worker = join(import.meta.dirname, 'worker.py')
const readyWithinMs = 120_000
const doneWithinMs = 600_000

/** Runs several processes that log into one run, all starting together. `untilStored` follows their own end. */
export async function measureClient(
  { kind, python, env }: Client,
  { processes, steps, keys }: Load,
  untilStored: (points: number) => Promise<void>,
): Promise<Measured> {
  const children = Array.from({ length: processes }, (_, rank) => {
    const args = [worker, kind, ...[rank, processes, steps, keys].map(String)]
    return spawn(python, args, {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, PYTHONDONTWRITEBYTECODE: '1', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
  })
  try {
    const workers = children.map(lines)
    await Promise.all(workers.map(worker => worker.next(readyWithinMs)))
    for (const { stdin } of children) stdin.write('\n')
    const reports = await Promise.all(
      workers.map(async worker => JSON.parse(await worker.next(doneWithinMs)) as Report),
    )
    const points = processes * steps * keys
    await untilStored(points)
    const storedAt = Math.max(...reports.map(({ ended }) => ended))
    const began = Math.min(...reports.map(report => report.began))
    const returnedAt = Math.max(...reports.map(({ returned }) => returned))
    return {
      points,
      returned: points / (returnedAt - began),
      stored: points / (storedAt - began),
      callUs: Math.max(...reports.map(({ slowest_us }) => slowest_us)),
      grownMb: Math.max(...reports.map(({ grown_mb }) => grown_mb)),
    }
  } finally {
    for (const child of children) await ended(child)
  }
}

/** The lines that a process prints, one at a time. */
function lines(child: ChildProcess) {
  if (!child.stdout) throw new Error('its output is not piped')
  const found = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async next(withinMs: number): Promise<string> {
      const late = AbortSignal.timeout(withinMs)
      const line = await Promise.race([found.next(), once(late, 'abort')])
      if (Array.isArray(line)) throw new Error(`a client said nothing within ${withinMs} ms`)
      if (line.done) throw new Error(`a client ended early, with ${child.exitCode}`)
      return line.value
    },
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  const kill = setTimeout(() => child.kill('SIGKILL'), 5_000)
  await closed
  clearTimeout(kill)
}
