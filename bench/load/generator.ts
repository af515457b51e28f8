import { spreadOf } from '../rig/quantile.ts'
import { type Connection, openConnection } from './connection.ts'
import type { LoadResult, Plan } from './plan.ts'
import { type Source, sourcesOf } from './source.ts'

/** Runs the load of one plan in a separate process, so that its cost does not count as the server's. */

type Client = { connection: Connection; sources: Source[]; turn: number }
type Tally = { ms: number[]; statuses: Record<string, number>; accepted: number }

async function run(plan: Plan): Promise<LoadResult> {
  const clients = await Promise.all(
    Array.from({ length: plan.connections }, (_, index) => openClient(plan, index)),
  )
  const tally: Tally = { ms: [], statuses: {}, accepted: 0 }
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
    accepted: tally.accepted,
    seconds,
    ack: spreadOf(tally.ms),
    statuses: tally.statuses,
    processorSeconds: (cpu.user + cpu.system) / 1e6,
  }
}

const openClient = async (plan: Plan, index: number): Promise<Client> => ({
  connection: await openConnection(plan.host, plan.port),
  sources: sourcesOf(plan, index),
  turn: 0,
})

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
  source.renew(new Date())
  try {
    const { status } = await client.connection.send(source.bytes)
    tally.ms.push(performance.now() - countedFrom)
    count(tally, status)
    if (status === 200) tally.accepted++
    if (Math.random() < plan.resent) {
      const again = await client.connection.send(source.bytes)
      tally.ms.push(again.ms)
      count(tally, again.status)
    }
    return true
  } catch {
    count(tally, 0)
    return false
  }
}

function count(tally: Tally, status: number): void {
  tally.statuses[status] = (tally.statuses[status] ?? 0) + 1
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
