import { readFileSync, writeFileSync } from 'node:fs'

/** When the kernel chooses a process to kill, it counts half of the machine's memory on top of the memory of a run's process. */
const preference = '500'

const own = '/proc/self/oom_score_adj'

/**
 * Starts a child that the kernel kills before this process when memory runs out. The child inherits the preference from its
 * first moment; where this process is root, it cannot lower it either.
 */
export function startedToDieFirst<T>(start: () => T): T {
  const before = exchange(preference)
  try {
    return start()
  } finally {
    if (before !== null) exchange(before)
  }
}

/** Returns the previous value; null if this is not permitted, or the process already has a higher one. */
function exchange(value: string): string | null {
  try {
    const before = readFileSync(own, 'utf8').trim()
    if (value === preference && Number(before) >= Number(preference)) return null
    writeFileSync(own, value)
    return before
  } catch {
    return null
  }
}
