import type { IncomingMessage } from 'node:http'
import { Counter, type Registry } from 'prom-client'
import { engineHeaders } from '../auth/engine-header.ts'
import { readPositionKey } from '../auth/position-key.ts'
import { createGateway, type Gateway } from '../gateway/gateway.ts'
import { ServingMap } from '../gateway/map.ts'
import { createPool } from '../platform/postgres/pool.ts'
import { prefixedId, systemClock } from '../platform/time.ts'
import type { TrafficRow } from '../schemas/traffic.ts'
import type { Core } from './core.ts'
import { openTraffic } from './traffic.ts'

/** Two reads at once at most, and nobody waits long for one: a request waits for it. */
const gatewayPool = {
  max: 2,
  statementTimeoutMs: 2_000,
  lockTimeoutMs: 2_000,
  answerWithinMs: 3_000,
}

/** The gateway of this process. It needs the database and nothing else. */
export async function openGateway(core: Core, isDraining: () => boolean): Promise<Gateway> {
  const { config, databaseUrl, life, logger, signals, telemetry } = core
  const pool = life.owns(
    'pool gateway',
    createPool(databaseUrl, { applicationName: 'forge gateway', ...gatewayPool }),
    opened => opened.end(),
  )
  const answers = new Counter({
    name: 'forge_inference_requests_total',
    help: 'Requests to deployments, by status and by whose error it was.',
    labelNames: ['status', 'error_source'],
    registers: [telemetry.registry],
  })
  const spool = openTraffic(core)
  const count = countTokens(telemetry.registry)
  const gateway = createGateway({
    map: new ServingMap(pool),
    engineHeaders: engineHeaders(await readPositionKey(pool)),
    record(row) {
      spool.record(row)
      count(row)
    },
    hasRoom: () => spool.hasRoom(),
    newRequestId: () => prefixedId('req'),
    now: systemClock,
    clock: () => performance.now(),
    addressOf: addressBehind(config.trustedProxyHops),
    isDraining,
    answered: ({ status, source }) =>
      answers.inc({ status: String(status), error_source: source ?? 'none' }),
    failed: error => logger.warn({ err: error }, 'the gateway could not look at a request'),
  })
  signals.subscribe('serving', gateway.wake)
  return life.owns('gateway', gateway, opened => opened.close())
}

/** Tokens by what engines said of them, for the scraper. */
function countTokens(registry: Registry): (row: TrafficRow) => void {
  const tokens = new Counter({
    name: 'forge_inference_tokens_total',
    help: 'Tokens of requests to deployments, as engines tell them or as pieces of streams were counted.',
    labelNames: ['kind', 'usage_source'],
    registers: [registry],
  })
  return ({ prompt_tokens, completion_tokens, usage_source }) => {
    tokens.inc({ kind: 'prompt', usage_source }, prompt_tokens ?? 0)
    tokens.inc({ kind: 'completion', usage_source }, completion_tokens ?? 0)
  }
}

/** The address of a caller, by so many trusted proxies in front: each adds the one that it saw. */
export const addressBehind =
  (hops: number) =>
  ({ headers, socket }: IncomingMessage): string => {
    const told = hops === 0 ? [] : String(headers['x-forwarded-for'] ?? '').split(',')
    const [first = ''] = told.slice(-hops)
    return first.trim() || (socket.remoteAddress ?? '')
  }
