import { join } from 'node:path'
import { Gauge } from 'prom-client'
import { createFactAppends } from '../../command-api/commit/append-fact.ts'
import { recordTraffic } from '../../events/traffic.ts'
import { startShipping } from '../../gateway/traffic/ship.ts'
import { TrafficSpool } from '../../gateway/traffic/spool.ts'
import { eventId } from '../../platform/time.ts'
import type { Core } from '../core.ts'

const gateway = { type: 'system', id: 'gateway', via: 'traffic' } as const

/** Records the requests to this process; they reach the log about a second later. */
export function openTraffic({
  config,
  log,
  logger,
  life,
  now,
  telemetry,
  topics,
}: Core): TrafficSpool {
  const spool = new TrafficSpool({ folder: join(config.dataDir, 'traffic') })
  new Gauge({
    name: 'forge_traffic_waiting_bytes',
    help: 'Rows of requests to deployments that are waiting on disk to be written to the log.',
    registers: [telemetry.registry],
    collect() {
      this.set(spool.bytes)
    },
  })
  const { appendFact } = createFactAppends(log, eventId)
  const shipping = startShipping({
    spool,
    now,
    append: (deployment_id, rows) =>
      appendFact(
        topics.traffic.name,
        { actor: gateway, requestId: '', now: now() },
        recordTraffic(deployment_id, rows),
      ),
    failed: error => logger.warn({ err: error }, 'rows of traffic wait for the log'),
    damaged: (path, rows) => logger.error({ path, rows }, 'rows of traffic were damaged on disk'),
  })
  life.owns('traffic', shipping, started => started.stop())
  return spool
}
