import { commitRate } from '../rig/commit-rate.ts'
import { processorSeconds } from '../rig/processor-time.ts'
import type { Spread } from '../rig/quantile.ts'
import type { Case } from './cases.ts'
import type { Stage } from './stage.ts'

/** The measurements of one case on one server, once. */
export type Cell = {
  case: string
  checkout: string
  perSecond: number
  latency: Spread
  /** Responses by status; `0` counts broken connections. */
  statuses: Record<string, number>
  /** One-row transactions a second on as many connections to the same PostgreSQL, just before. */
  commitsPerSecond: number
  /** CPU time of the server's process, until the read side has caught up. */
  serverCpuMsPerRequest: number
  /** CPU time of PostgreSQL over the same period. */
  databaseCpuMsPerRequest: number
  /** CPU time of the load process, which shares the machine. */
  loadCpuMsPerRequest: number
}

export async function measureCase(stage: Stage, work: Case, seconds: number): Promise<Cell> {
  const commitsPerSecond = await commitRate(stage.clients)
  const before = await usedBy(stage)
  const load = await stage.load(work, seconds)
  await stage.settled()
  const after = await usedBy(stage)
  return {
    case: work.name,
    checkout: stage.checkout,
    perSecond: load.requests / load.seconds,
    latency: load.ack,
    statuses: load.statuses,
    commitsPerSecond,
    serverCpuMsPerRequest: ((after.server - before.server) * 1e3) / load.requests,
    databaseCpuMsPerRequest: ((after.database - before.database) * 1e3) / load.requests,
    loadCpuMsPerRequest: (load.processorSeconds * 1e3) / load.requests,
  }
}

async function usedBy(stage: Stage): Promise<{ server: number; database: number }> {
  const { server, postgres } = await stage.pids()
  // PostgreSQL is a child of the server that started it.
  const both = processorSeconds([server, postgres])
  const database = processorSeconds([postgres])
  return { server: both - database, database }
}
