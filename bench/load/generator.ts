import { spreadOf } from '../rig/quantile.ts'
import { type Connection, openConnection } from './connection.ts'
import type { LoadResult, Plan } from './plan.ts'
import { firstStep, type MetricsRequest, metricsRequest } from './request.ts'

/** Drives the load of one plan, in a process of its own so that its cost is not the server's. */

type Lane = { connection: Connection; sources: Source[]; turn: number }
type Source = { request: MetricsRequest; step: number }
type Tally = { ms: number[]; failures: Record<string, number>; points: number }

async function run(plan: Plan): Promise<LoadResult> {
  const lanes = await Promise.all(
    Array.from({ length: plan.connections }, (_, index) => openLane(plan, index)),
  )
  const tally: Tally = { ms: [], failures: {}, points: 0 }
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  const until = began + plan.seconds * 1000
  if (plan.rate === null) await Promise.all(lanes.map(lane => closedLoop(lane, plan, until, tally)))
  else await openLoop(lanes, plan, until, tally)
  const seconds = (performance.now() - began) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  for (const { connection } of lanes) connection.close()
  return {
    requests: tally.ms.length,
    points: tally.points,
    seconds,
    ack: spreadOf(tally.ms),
    failures: tally.failures,
    processorSeconds: (cpu.user + cpu.system) / 1e6,
  }
}

async function openLane(plan: Plan, index: number): Promise<Lane> {
  const mine = plan.runs.filter((_, run) => run % plan.connections === index)
  const runs = mine.length > 0 ? mine : plan.runs.slice(0, 1)
  const host = `${plan.host}:${plan.port}`
  return {
    connection: await openConnection(plan.host, plan.port),
    sources: runs.map((run, order) => ({
      request: metricsRequest(
        { host, runId: run.run_id, token: run.token },
        plan.points,
        index * 7919 + order * 104_729 + 1,
      ),
      step: firstStep,
    })),
    turn: 0,
  }
}

async function closedLoop(lane: Lane, plan: Plan, until: number, tally: Tally): Promise<void> {
  while (performance.now() < until) {
    const sentAt = performance.now()
    if (!(await sendOne(lane, plan, tally, sentAt))) return
  }
}

/** Requests fall due on a fixed schedule; one that must wait for a free connection has waited, and counts so. */
async function openLoop(lanes: Lane[], plan: Plan, until: number, tally: Tally): Promise<void> {
  const everyMs = 1000 / (plan.rate ?? 1)
  const began = performance.now()
  let due = began
  const takeDue = () => {
    const mine = due
    due += everyMs
    return mine
  }
  await Promise.all(
    lanes.map(async lane => {
      for (let mine = takeDue(); mine < until; mine = takeDue()) {
        const early = mine - performance.now()
        if (early > 0) await new Promise(resolve => setTimeout(resolve, early))
        if (!(await sendOne(lane, plan, tally, mine))) return
      }
    }),
  )
}

/** Answers false when the connection is gone. */
async function sendOne(
  lane: Lane,
  plan: Plan,
  tally: Tally,
  countedFrom: number,
): Promise<boolean> {
  const source = lane.sources[lane.turn++ % lane.sources.length]
  if (!source) return false
  source.step = source.request.renew(source.step, new Date())
  try {
    const { status } = await lane.connection.send(source.request.bytes)
    tally.ms.push(performance.now() - countedFrom)
    if (status === 200) tally.points += plan.points
    else count(tally, status)
    if (Math.random() < plan.resent) {
      const again = await lane.connection.send(source.request.bytes)
      tally.ms.push(again.ms)
      if (again.status !== 200) count(tally, again.status)
    }
    return true
  } catch {
    count(tally, 0)
    return false
  }
}

function count(tally: Tally, status: number): void {
  tally.failures[status] = (tally.failures[status] ?? 0) + 1
}

process.once('message', (plan: Plan) => {
  run(plan).then(
    result => process.send?.(result, () => process.exit(0)),
    error => {
      console.error(error)
      process.exit(1)
    },
  )
})
