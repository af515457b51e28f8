import { readdirSync, readFileSync } from 'node:fs'

type Stat = { pid: number; parent: number; ticks: number }

/** USER_HZ: Linux reports CPU time in hundredths of a second, whatever the kernel's own clock is. */
const secondsPerTick = 0.01

/**
 * CPU seconds, user and system, used so far by these processes and all their descendants, including ended ones
 * (Linux, `proc_pid_stat(5)`).
 */
export function processorSeconds(roots: readonly number[]): number {
  const all = readdirSync('/proc').flatMap(name => {
    const stat = /^\d+$/.test(name) ? readStat(name) : null
    return stat ? [stat] : []
  })
  const counted = new Set(roots)
  for (let before = -1; before !== counted.size; ) {
    before = counted.size
    for (const { pid, parent } of all) if (counted.has(parent)) counted.add(pid)
  }
  const ticks = all.filter(({ pid }) => counted.has(pid)).reduce((sum, stat) => sum + stat.ticks, 0)
  return ticks * secondsPerTick
}

function readStat(pid: string): Stat | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
  // The name, in parentheses, may contain blanks; the later fields do not.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15).map(Number)
  return {
    pid: Number(pid),
    parent: Number(fields[1]),
    ticks: (user ?? 0) + (system ?? 0) + (childrenUser ?? 0) + (childrenSystem ?? 0),
  }
}
