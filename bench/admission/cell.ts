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
  /** CPU time of server and PostgreSQL, until the read side has caught up. */
  cpuMsPerRequest: number
  /** CPU time of the load process, which shares the machine. */
  loadCpuMsPerRequest: number
}

export async function measureCase(stage: Stage, work: Case, seconds: number): Promise<Cell> {
  const commitsPerSecond = await commitRate(stage.clients)
  const before = processorSeconds(await stage.pids())
  const load = await stage.load(work, seconds)
  await stage.settled()
  const cpu = processorSeconds(await stage.pids()) - before
  return {
    case: work.name,
    checkout: stage.checkout,
    perSecond: load.requests / load.seconds,
    latency: load.ack,
    statuses: load.statuses,
    commitsPerSecond,
    cpuMsPerRequest: (cpu * 1e3) / load.requests,
    loadCpuMsPerRequest: (load.processorSeconds * 1e3) / load.requests,
  }
}
