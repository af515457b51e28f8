import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { topicsOf } from '../events/topics.ts'
import { openPostgresLog } from '../platform/log/postgres.ts'
import { startEmbeddedPostgres } from '../platform/postgres/embedded.ts'
import { migrate } from '../platform/postgres/migrate.ts'
import { createPool } from '../platform/postgres/pool.ts'
import { verifyChain } from '../query-api/audit/verify.ts'
import { migrationSets } from '../server/database/migrations.ts'
import { fillEvents } from './audit/fill.ts'
import { measureFilters } from './audit/filters.ts'
import { measureRelay } from './audit/relay.ts'
import { number, toTable } from './rig/table.ts'

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    /** Number of events per relay measurement. */
    relayed: { type: 'string', default: '50000' },
    /** Number of measurements. */
    rounds: { type: 'string', default: '6' },
  },
})

const folder = await mkdtemp(join(tmpdir(), 'forge-bench-audit-'))
const logger = pino({ level: 'warn' })
const postgres = await startEmbeddedPostgres({ directory: folder, logger })
try {
  await migrate(postgres.url, migrationSets)
  const pool = createPool(postgres.url, {
    max: 4,
    applicationName: 'forge bench',
    statementTimeoutMs: null,
  })
  await measure(pool)
  await pool.end()
} finally {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}

async function measure(pool: Pool): Promise<void> {
  const topic = topicsOf('bench').decisions
  const log = await openPostgresLog({ url: postgres.url, topics: [topic] })
  const [events, relayed] = [Number(options.events), Number(options.relayed)]
  const target = { pool, log, topic: topic.name }
  let filled = 0
  for (; filled < Number(options.rounds) * relayed; filled += relayed) {
    await fillEvents(pool, { after: filled, count: relayed, total: events })
    const rate = await measureRelay(target, relayed)
    console.log(`relay to the Postgres log: ${number(rate)} events/s`)
  }
  await fillEvents(pool, { after: filled, count: events - filled, total: events })
  await measureRelay(target, events - filled)
  await log.close()
  await pool.query('vacuum analyze write.event')
  console.log(
    toTable(await measureFilters(pool), [
      ['filter', ({ what }) => what],
      ['p50 ms', ({ took }) => number(took.p50, 1)],
      ['p95 ms', ({ took }) => number(took.p95, 1)],
      ['max ms', ({ took }) => number(took.max, 1)],
    ]),
  )
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const before = process.memoryUsage().rss
  const began = performance.now()
  const { ok, checked } = await verifyChain(pool, {
    kept: null,
    signal: new AbortController().signal,
  })
  const seconds = (performance.now() - began) / 1000
  delay.disable()
  console.log(
    `verify: ok ${ok}, ${number(checked)} events in ${number(seconds, 1)} s; held up the process for ` +
      `${number(delay.percentile(99) / 1e6, 1)} ms (p99), ${number(delay.max / 1e6, 1)} ms (max), ` +
      `${number((process.memoryUsage().rss - before) / 1e6)} MB more resident than before`,
  )
}
