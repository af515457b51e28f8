import { readFileSync } from 'node:fs'
import type { Exit } from '../../events/jobs.ts'
import type { Cgroup } from '../attempts/attempt-directory.ts'
import { oomKillsIn } from './cgroup.ts'

const sampleMs = 1000

/**
 * Detects whether the kernel killed the command for lack of memory. Exact if the control group counts such kills;
 * otherwise inferred from a SIGKILL that we did not send, within seconds of an out-of-memory kill on this machine.
 */
export function oomWatch(cgroup: Cgroup | null): {
  killed(end: Pick<Exit, 'exit_code' | 'signal'> & { by_us: boolean }): boolean
  end(): void
} {
  let older = machineOomKills()
  let newer = older
  const sampler = setInterval(() => {
    older = newer
    newer = machineOomKills()
  }, sampleMs)
  return {
    end: () => clearInterval(sampler),
    killed(end) {
      clearInterval(sampler)
      const counted = cgroup ? oomKillsIn(cgroup) : null
      return wasOomKilled({ ...end, counted, on_machine: machineOomKills() - older })
    },
  }
}

/** `counted`: kills inside the attempt (null: unknown); `on_machine`: kills anywhere in the last seconds. */
export function wasOomKilled(
  seen: Pick<Exit, 'exit_code' | 'signal'> & {
    by_us: boolean
    counted: number | null
    on_machine: number
  },
): boolean {
  // The kernel may have killed only a child of a command that succeeded.
  if (seen.counted !== null) return seen.counted > 0 && seen.exit_code !== 0
  return seen.signal === 'SIGKILL' && !seen.by_us && seen.on_machine > 0
}

function machineOomKills(): number {
  try {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
