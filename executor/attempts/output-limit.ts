import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import type { RankPaths } from './attempt-directory.ts'
import { isErrno, readJson, writeDurably } from './durable-json.ts'

/** How far the output of each stream may reach, in bytes; output beyond is cut off and never read. */
export type OutputReach = { stdout: number; stderr: number }

type Options = {
  /** For each stream; a little more than the log accepts for a run, so that the log marks the gap as well. */
  bytesPerHour?: number
  now?: () => number
  lookEveryMs?: number
  failed?: (error: unknown) => void
}

const usual = {
  bytesPerHour: 101 * 1024 * 1024,
  now: Date.now,
  lookEveryMs: 250,
  failed: () => {},
}
const hourMs = 3_600_000
const streams = ['stdout', 'stderr'] as const
type Stream = (typeof streams)[number]

/**
 * Keeps the output files of a rank from filling the disk: output beyond its hourly limit is cut
 * off again, a quarter of a second later at most. The command appends to its files itself, so it continues
 * unharmed. Returns how to end it.
 */
export async function limitOutput(
  paths: Pick<RankPaths, 'stdout' | 'stderr' | 'reach'>,
  options: Options = {},
): Promise<() => Promise<void>> {
  const { bytesPerHour, now, lookEveryMs, failed } = { ...usual, ...options }
  const hourNow = () => Math.floor(now() / hourMs)
  let hour = hourNow()
  let reach = await begin()
  let isMarked: Record<Stream, boolean> = { stdout: false, stderr: false }

  async function begin(): Promise<OutputReach> {
    const from = { stdout: cut(paths.stdout, null), stderr: cut(paths.stderr, null) }
    const reach = { stdout: from.stdout + bytesPerHour, stderr: from.stderr + bytesPerHour }
    // Done before anything beyond the old reach may stay: the reader never reads output that is cut off later.
    await writeDurably(paths.reach, reach)
    return reach
  }
  const look = async () => {
    for (const stream of streams) {
      const marker = isMarked[stream] ? '' : markerUntil(hour + 1, bytesPerHour)
      if (cut(paths[stream], { reach: reach[stream], marker }) > reach[stream])
        isMarked[stream] = true
    }
    if (hourNow() === hour) return
    reach = await begin()
    hour = hourNow()
    isMarked = { stdout: false, stderr: false }
  }
  let looking = Promise.resolve()
  const timer = setInterval(() => {
    looking = looking.then(look).catch(failed)
  }, lookEveryMs)
  return async () => {
    clearInterval(timer)
    await looking
    await look().catch(failed)
  }
}

const markerUntil = (hour: number, bytes: number) =>
  `\n[forge] more than ${Math.round(bytes / 1024 / 1024)} MiB within one hour: not kept until ${new Date(hour * hourMs).toISOString()}\n`

/** Returns the size before; a file beyond its reach ends with the marker afterwards. 0 if there is no file. */
function cut(file: string, at: { reach: number; marker: string } | null): number {
  let fd: number
  try {
    // Never through a link that running code put in its place, and never waiting for a lease that it holds (fcntl(2)).
    const { O_RDWR, O_NOFOLLOW, O_NONBLOCK } = constants
    fd = openSync(file, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return 0
    throw error
  }
  try {
    const { size } = fstatSync(fd)
    if (at === null || size <= at.reach) return size
    ftruncateSync(fd, at.reach)
    // Over what stands there, not behind it: the command prints meanwhile.
    if (at.marker !== '') writeSync(fd, at.marker, at.reach - Buffer.byteLength(at.marker))
    return size
  } finally {
    closeSync(fd)
  }
}

/** As far as the output may be read; null for attempts of an earlier version. */
export const readReach = (file: string): Promise<OutputReach | null> => readJson<OutputReach>(file)
