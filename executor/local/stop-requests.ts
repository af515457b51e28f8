import { type FSWatcher, watch } from 'node:fs'
import type { AttemptPaths, StopRecord } from './attempt-directory.ts'
import { readJson } from './durable-json.ts'
import { trySignal } from './processes.ts'
import { killRun, type Quarry } from './sweep.ts'

/** Where file watching does not work (network file systems) a request is seen within this time. */
const pollMs = 1000

/**
 * Carries out what `stop` recorded, with or without a server: SIGTERM to the whole process group at once, SIGKILL to
 * all of the run after the grace. A repeated request can only bring the kill nearer.
 */
export function followStops(
  paths: AttemptPaths,
  quarry: Quarry,
): { end(): void; killed(): boolean } {
  let polite = false
  let dueMs = Number.POSITIVE_INFINITY
  let killed = false
  let ended = false
  let timer: NodeJS.Timeout | undefined

  const look = async () => {
    const stop = await readJson<StopRecord>(paths.stop).catch(() => null)
    if (!stop || ended) return
    const due = performance.now() + (stop.force ? 0 : stop.grace_s * 1000)
    if (!polite && !stop.force) askPolitely(quarry.session)
    polite = true
    if (due >= dueMs) return
    dueMs = due
    schedule()
  }
  const schedule = () => {
    clearTimeout(timer)
    // setTimeout takes at most 2^31-1 ms; a longer grace is looked at again by then.
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
    // The user's limit of watches is reached; polling goes on.
    return null
  }
}

/** The command leads a session and a group of the same number. */
function askPolitely(group: number | null): void {
  if (group === null) return
  trySignal(-group, 'SIGTERM')
  // A stopped process takes SIGTERM only when it goes on.
  trySignal(-group, 'SIGCONT')
}
