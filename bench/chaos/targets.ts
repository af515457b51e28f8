import { findPostmaster } from '../rig/database.ts'
import type { KafkaBroker } from '../rig/kafka.ts'
import type { Server } from '../rig/server.ts'

export type TargetName = 'server' | 'postgres' | 'broker'

/** A process that may be killed. `kill` returns its pid, or null if it was already down. */
export type Target = { name: TargetName; weight: number; kill(): Promise<number | null> }

/** The server is restarted by its supervisor, PostgreSQL by the server, the broker by this rig. */
export function targetsOf(server: Server, broker: KafkaBroker | null): Target[] {
  const targets: Target[] = [
    { name: 'server', weight: 3, kill: server.kill },
    {
      name: 'postgres',
      weight: 2,
      async kill() {
        const postmaster = await findPostmaster(server.dataDir)
        return postmaster && killed(postmaster.pid) ? postmaster.pid : null
      },
    },
  ]
  if (broker) targets.push({ name: 'broker', weight: 2, kill: () => broker.killAndRestart() })
  return targets
}

function killed(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}
