import type { Client } from 'pg'
import { askApi, signIn } from '../../test/servers/api.ts'
import { until } from '../../test/servers/until.ts'
import { runLoad } from '../load/start.ts'
import { createRuns } from '../rig/api.ts'
import { connect, tableBytes } from '../rig/database.ts'
import { type StartOptions, startServer } from '../rig/server.ts'

/** Bytes per point, including indexes and TOAST. */
export type Storage = {
  points: number
  log: number
  /** Before compaction: `metric_block`. */
  l0: number
  /** After compaction: `metric_chunk`. */
  l1: number
}

const runCount = 16
const pointsPerRequest = 100
/** Too little to trigger the compactor. */
const load = { connections: 16, seconds: 5, rate: 1_000, resent: 0.01 }
const appliedWithinMs = 60_000

/** Uses a fresh server, so that the tables hold nothing else. */
export async function measureStorage(options: StartOptions): Promise<Storage> {
  const server = await startServer(options)
  try {
    const token = await signIn(server.url)
    const runs = await createRuns(server.url, token, 'storage', runCount)
    const { hostname, port } = new URL(server.url)
    const work = { runs, points: pointsPerRequest }
    const { accepted } = await runLoad({ ...load, host: hostname, port: Number(port), work })
    const points = accepted * pointsPerRequest
    const client = await connect(server.dataDir)
    try {
      await until('all blocks are stored', appliedWithinMs, () => isStill(client))
      const bytesPer = async (...tables: string[]) => {
        const sizes = await Promise.all(tables.map(table => tableBytes(client, table)))
        return sizes.reduce((sum, size) => sum + size, 0) / points
      }
      const l0 = await bytesPer('read.metric_block')
      const log = await bytesPer('log.record')
      const ended = { event: 'succeeded', ts: new Date().toISOString() }
      for (const { run_id, token: ingest } of runs)
        await askApi(server.url, 'POST', '/api/ingest/lifecycle', {
          token: ingest,
          body: { run_id, ...ended },
        })
      await until('all blocks are compacted', appliedWithinMs, () => isEmpty(client))
      return { points, log, l0, l1: await bytesPer('read.metric_chunk') }
    } finally {
      await client.end()
    }
  } finally {
    await server.stop()
    await server.remove()
  }
}

let lastCount = ''

/** Whether no block was added between two checks. */
async function isStill(client: Client): Promise<boolean> {
  const { rows } = await client.query('select count(*)::text as count from read.metric_block')
  const before = lastCount
  lastCount = rows[0].count
  await new Promise(resolve => setTimeout(resolve, 500))
  return before === lastCount && lastCount !== '0'
}

async function isEmpty(client: Client): Promise<boolean> {
  const { rows } = await client.query('select not exists (select from read.metric_block) as empty')
  return rows[0].empty
}
