import { open, stat } from 'node:fs/promises'
import type { ExitRecord, StartedRecord } from '../attempts/attempt-directory.ts'
import { isErrno, readJson } from '../attempts/durable-json.ts'
import type { SlurmPaths } from './attempt-files.ts'

/** The records that the ranks of an attempt have left in their folders. */
export type RankStates = {
  exits: (ExitRecord | null)[]
  /** When the first of them started. */
  started_at: string | null
  /** Whether Slurm asked one of them to end. */
  interrupted: boolean
  /** Ranks without an end whose supervisor was alive a moment ago. */
  alive: number[]
}

/** A supervisor notes every 10 s that it lives; clocks of nodes differ a little. */
const silentMs = 30_000

export async function readRanks(paths: SlurmPaths, nodes: number, now: Date): Promise<RankStates> {
  const ranks = await Promise.all(
    Array.from({ length: nodes }, (_, rank) => readRank(paths, rank, now)),
  )
  const starts = ranks.map(rank => rank.started_at).filter(start => start !== null)
  return {
    exits: ranks.map(rank => rank.exit),
    started_at: starts.sort()[0] ?? null,
    interrupted: ranks.some(rank => rank.interrupted),
    alive: ranks.flatMap((rank, index) => (rank.isAlive ? [index] : [])),
  }
}

async function readRank(paths: SlurmPaths, rank: number, now: Date) {
  const node = paths.node(rank)
  const started = await readJson<StartedRecord>(node.started)
  const heartbeat = await mtimeOf(node.claim(1))
  // Read after the heartbeat, because a supervisor writes it before it ends; and before the mark, which may follow it closely.
  const exit = await readJson<ExitRecord>(node.exit)
  const interrupted = (await readJson(node.interrupted)) !== null
  return {
    exit,
    started_at: exit?.started_at ?? started?.started_at ?? null,
    interrupted,
    isAlive: exit === null && heartbeat !== null && now.getTime() - heartbeat < silentMs,
  }
}

async function mtimeOf(file: string): Promise<number | null> {
  try {
    return (await stat(file)).mtimeMs
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}

const keptBytes = 1000

/** The last lines of a file, on one line; empty if there is none. */
export async function lastLines(file: string): Promise<string> {
  try {
    const handle = await open(file)
    try {
      const { size } = await handle.stat()
      const from = Math.max(0, size - keptBytes)
      const { buffer, bytesRead } = await handle.read(
        Buffer.alloc(size - from),
        0,
        size - from,
        from,
      )
      return buffer
        .toString('utf8', 0, bytesRead)
        .trim()
        .replaceAll(/\s*\n\s*/g, ' | ')
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return ''
    throw error
  }
}
