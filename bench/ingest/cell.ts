import type { LoadResult } from '../load/plan.ts'
import { runLoad } from '../load/start.ts'
import type { ExternalRun } from '../rig/api.ts'
import { processorSeconds } from '../rig/processor-time.ts'
import type { Spread } from '../rig/quantile.ts'
import type { Probe } from './probe.ts'

export type CellPlan = {
  points: number
  connections: number
  seconds: number
  /** Requests a second on a fixed schedule; null: as fast as the server responds. */
  rate: number | null
}

/** The measurements for one request size and number of connections. */
export type Cell = CellPlan & {
  pointsPerSecond: number
  requestsPerSecond: number
  ack: Spread
  /** Milliseconds from the acknowledgement of a probe to its frame on the stream. */
  visible: Spread
  /** CPU time of server, PostgreSQL and broker together. */
  cpuMicrosecondsPerPoint: number
  /** CPU time of the load process, which shares the machine. */
  loadCpuMicrosecondsPerPoint: number
  /** Responses other than 200, by status. */
  failures: LoadResult['statuses']
}

export type Bench = {
  url: string
  runs: readonly ExternalRun[]
  probe: Probe
  /** Pids of the server, PostgreSQL and the broker. */
  pids(): Promise<number[]>
}

/** Share of requests sent twice. */
const resent = 0.01

export async function measureCell(bench: Bench, plan: CellPlan): Promise<Cell> {
  const { hostname, port } = new URL(bench.url)
  bench.probe.reset()
  const before = processorSeconds(await bench.pids())
  const { points: perRequest, ...pace } = plan
  const work = { runs: bench.runs, points: perRequest }
  const load = await runLoad({ ...pace, host: hostname, port: Number(port), work, resent })
  const points = load.accepted * perRequest
  const { 200: _, ...failures } = load.statuses
  // The projector works on this load until the last probe is visible, so its time counts too.
  const visible = await bench.probe.visible()
  const cpu = processorSeconds(await bench.pids()) - before
  return {
    ...plan,
    pointsPerSecond: points / load.seconds,
    requestsPerSecond: load.requests / load.seconds,
    ack: load.ack,
    visible,
    cpuMicrosecondsPerPoint: (cpu * 1e6) / points,
    loadCpuMicrosecondsPerPoint: (load.processorSeconds * 1e6) / points,
    failures,
  }
}
