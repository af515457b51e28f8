import { type Connection, openConnection } from '../load/connection.ts'
import type { Work } from '../load/plan.ts'
import { type Source, sourcesOf } from '../load/source.ts'

/** The requests to one server, with its own bodies: its runs and tokens. */
export type Side = { host: string; port: number; work: Work }

export type DuelPlan = {
  connections: number
  /** Slices of each side. */
  slices: number
  sliceMs: number
  /** Which side begins: after a rest, the first slice is the fastest on many machines. */
  first: number
}

/** The results of one side in all of its slices. */
export type Score = {
  requests: number
  /** Time of its slices, each until its last response. */
  ms: number
  latencies: number[]
  /** `0` counts broken connections. */
  statuses: Record<string, number>
}

type Client = { connection: Connection; sources: Source[]; turn: number }

/**
 * Loads the sides in turn for a fraction of a second each, as fast as they respond, so that any other load on the machine affects
 * both. Every other turn is in the opposite order.
 */
export async function duel(sides: readonly Side[], plan: DuelPlan): Promise<Score[]> {
  const teams = await Promise.all(sides.map(side => openTeam(side, plan.connections)))
  const scores = sides.map((): Score => ({ requests: 0, ms: 0, latencies: [], statuses: {} }))
  const pairs = teams.flatMap((team, index) => {
    const score = scores[index]
    return score ? [{ team, score }] : []
  })
  for (let slice = 0; slice < plan.slices; slice++)
    for (const { team, score } of (slice + plan.first) % 2 === 0 ? pairs : pairs.toReversed())
      await playSlice(team, plan.sliceMs, score)
  for (const { connection } of teams.flat()) connection.close()
  return scores
}

function openTeam({ host, port, work }: Side, connections: number): Promise<Client[]> {
  const plan = { host, port, work, connections, seconds: 0, resent: 0, rate: null }
  return Promise.all(
    Array.from({ length: connections }, async (_, index) => ({
      connection: await openConnection(host, port),
      sources: sourcesOf(plan, index),
      turn: 0,
    })),
  )
}

async function playSlice(team: readonly Client[], sliceMs: number, score: Score): Promise<void> {
  const began = performance.now()
  await Promise.all(
    team.map(async client => {
      while (performance.now() - began < sliceMs) if (!(await sendOne(client, score))) return
    }),
  )
  score.ms += performance.now() - began
}

async function sendOne(client: Client, score: Score): Promise<boolean> {
  const source = client.sources[client.turn++ % client.sources.length]
  if (!source) return false
  source.renew(new Date())
  const answer = await client.connection.send(source.bytes).catch(() => null)
  const status = answer?.status ?? 0
  score.statuses[status] = (score.statuses[status] ?? 0) + 1
  if (!answer) return false
  score.requests++
  score.latencies.push(answer.ms)
  return true
}
