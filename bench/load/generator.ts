import { spreadOf } from '../rig/quantile.ts'
import { type Connection, openConnection } from './connection.ts'
import type { LoadResult, Plan } from './plan.ts'
import { firstStep, type MetricsRequest, metricsRequest } from './request.ts'

/** Runs the load of one plan in a separate process, so that its cost does not count as the server's. */

type Client = { connection: Connection; sources: Source[]; turn: number }
type Source = { request: MetricsRequest; step: number }
type Tally = { ms: number[]; failures: Record<string, number>; points: number }

async function run(plan: Plan): Promise<LoadResult> {
  const clients = await Promise.all(
    Array.from({ length: plan.connections }, (_, index) => openClient(plan, index)),
  )
  const tally: Tally = { ms: [], failures: {}, points: 0 }
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  const until = began + plan.seconds * 1000
  if (plan.rate === null)
    await Promise.all(clients.map(client => closedLoop(client, plan, until, tally)))
  else await openLoop(clients, plan, until, tally)
  const seconds = (performance.now() - began) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  for (const { connection } of clients) connection.close()
  return {
    requests: tally.ms.length,
    points: tally.points,
    seconds,
    ack: spreadOf(tally.ms),
    failures: tally.failures,
    processorSeconds: (cpu.user + cpu.system) / 1e6,
  }
}

async function openClient(plan: Plan, index: number): Promise<Client> {
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

async function closedLoop(client: Client, plan: Plan, until: number, tally: Tally): Promise<void> {
  while (performance.now() < until) {
    const sentAt = performance.now()
    if (!(await sendOne(client, plan, tally, sentAt))) return
  }
}

/** Sends on a fixed schedule; waiting for a free connection counts as latency. */
async function openLoop(clients: Client[], plan: Plan, until: number, tally: Tally): Promise<void> {
  const everyMs = 1000 / (plan.rate ?? 1)
  const began = performance.now()
  let due = began
  const takeDue = () => {
    const mine = due
    due += everyMs
    return mine
  }
  await Promise.all(
    clients.map(async client => {
      for (let mine = takeDue(); mine < until; mine = takeDue()) {
        const early = mine - performance.now()
        if (early > 0) await new Promise(resolve => setTimeout(resolve, early))
        if (!(await sendOne(client, plan, tally, mine))) return
      }
    }),
  )
}

/** Returns false if the connection broke. */
async function sendOne(
  client: Client,
  plan: Plan,
  tally: Tally,
  countedFrom: number,
): Promise<boolean> {
  const source = client.sources[client.turn++ % client.sources.length]
  if (!source) return false
  source.step = source.request.renew(source.step, new Date())
  try {
    const { status } = await client.connection.send(source.request.bytes)
    tally.ms.push(performance.now() - countedFrom)
    if (status === 200) tally.points += plan.points
    else count(tally, status)
    if (Math.random() < plan.resent) {
      const again = await client.connection.send(source.request.bytes)
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
