import { type FSWatcher, watch } from 'node:fs'
import type { AttemptPaths, StopRecord } from '../attempts/attempt-directory.ts'
import { readJson } from '../attempts/durable-json.ts'
import { killRun, type Quarry } from './kill-run.ts'
import { trySignal } from './processes.ts'

/** Without file watching (network file systems) a request is seen within this time. */
const pollMs = 1000

export type Stops = {
  /** Carries out a request without a record. */
  heed(stop: StopRecord): void
  /** Whether there is a recorded request. */
  requested(): boolean
  killed(): boolean
  end(): void
}

/**
 * Carries out recorded stop requests, with or without a server: SIGTERM to the process groups at once, SIGKILL to
 * all processes of the run after the grace. A repeated request can only make the kill earlier.
 */
export function followStops(paths: AttemptPaths, quarry: Quarry): Stops {
  let polite = false
  let requested = false
  let dueMs = Number.POSITIVE_INFINITY
  let killed = false
  let ended = false
  let timer: NodeJS.Timeout | undefined

  const look = async () => {
    const stop = await readJson<StopRecord>(paths.stop).catch(() => null)
    if (!stop || ended) return
    requested = true
    heed(stop)
  }
  const heed = ({ grace_s, force }: StopRecord) => {
    const due = performance.now() + (force ? 0 : grace_s * 1000)
    if (!polite && !force) askPolitely(quarry.sessions)
    polite = true
    if (due >= dueMs) return
    dueMs = due
    schedule()
  }
  const schedule = () => {
    clearTimeout(timer)
    // setTimeout takes at most 2^31-1 ms; a longer grace is checked again after that.
    timer = setTimeout(kill, Math.min(Math.max(dueMs - performance.now(), 0), 2 ** 31 - 1))
  }
  const kill = async () => {
    if (ended) return
    if (performance.now() >= dueMs) {
      killed = true
      await killRun(quarry)
    }
    if (!ended) timer = setTimeout(kill, pollMs)
  }

  const watcher = tryWatch(paths.control, () => void look())
  const poll = setInterval(() => void look(), pollMs)
  void look()
  return {
    heed,
    requested: () => requested,
    end() {
      ended = true
      clearTimeout(timer)
      clearInterval(poll)
      watcher?.close()
    },
    killed: () => killed,
  }
}

function tryWatch(directory: string, look: () => void): FSWatcher | null {
  try {
    const watcher = watch(directory, look)
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    // The user's limit of watches is reached; polling continues.
    return null
  }
}

/** Sends SIGTERM. Each command leads a session and a group with its own pid. */
function askPolitely(groups: readonly number[]): void {
  for (const group of groups) {
    trySignal(-group, 'SIGTERM')
    // A stopped process handles SIGTERM only after SIGCONT.
    trySignal(-group, 'SIGCONT')
  }
}
