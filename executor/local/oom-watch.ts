import { readFileSync } from 'node:fs'
import { type Cgroup, oomKillsIn } from './cgroup.ts'

const sampleMs = 1000

/**
 * Tells whether the kernel killed the command for lack of memory. Exact if the control group counts such kills;
 * otherwise inferred from a SIGKILL that we did not send, within seconds of an out-of-memory kill on this machine.
 */
export function oomWatch(cgroup: Cgroup | null): {
  killed(end: { exitCode: number | null; signal: string | null; byUs: boolean }): boolean
} {
  let older = machineOomKills()
  let newer = older
  const sampler = setInterval(() => {
    older = newer
    newer = machineOomKills()
  }, sampleMs)
  return {
    killed(end) {
      clearInterval(sampler)
      const counted = cgroup ? oomKillsIn(cgroup) : null
      return wasOomKilled({ ...end, counted, onMachine: machineOomKills() - older })
    },
  }
}

/** `counted`: kills inside the attempt (null: unknown); `onMachine`: kills anywhere in the last seconds. */
export function wasOomKilled(seen: {
  exitCode: number | null
  signal: string | null
  byUs: boolean
  counted: number | null
  onMachine: number
}): boolean {
  // The kernel may have killed only a child of a command that succeeded.
  if (seen.counted !== null) return seen.counted > 0 && seen.exitCode !== 0
  return seen.signal === 'SIGKILL' && !seen.byUs && seen.onMachine > 0
}

function machineOomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
