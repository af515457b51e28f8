import type { IncomingMessage } from 'node:http'
import { personBy } from '../../auth/authenticate.ts'
import type { Person } from '../../auth/caller.ts'
import { engineHeaders } from '../../auth/engine-header.ts'
import { judgeTokens } from '../../auth/judge-token.ts'
import { readPositionKey } from '../../auth/position-key.ts'
import { secondFactorPolicy } from '../../auth/second-factor.ts'
import type { Deps } from '../../command-api/deps.ts'
import { createGateway, type Gateway } from '../../gateway/gateway.ts'
import { ServingMap } from '../../gateway/map.ts'
import { openPlayground } from '../../gateway/playground.ts'
import { tellLoad } from '../../gateway/tell-load.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { Refusal } from '../../platform/refusal.ts'
import { prefixedId } from '../../platform/time.ts'
import type { Core } from '../core.ts'
import { openCapture } from './capture.ts'
import { gatewayMetrics } from './gateway-metrics.ts'
import { openTraffic } from './traffic.ts'

/** At most two reads at once, with a short time limit, because requests wait for them. */
const gatewayPool = {
  max: 2,
  statementTimeoutMs: 2_000,
  lockTimeoutMs: 2_000,
  answerWithinMs: 3_000,
}

/** Long enough for a line that stalls, short enough that nobody holds a place with a body that never comes. */
const callerSilentMs = 60_000

/** The gateway of this process. It needs only the database. */
export async function openGateway(
  core: Core,
  deps: Pick<Deps, 'keys' | 'baseUrl' | 'sealing'>,
  isDraining: () => boolean,
): Promise<Gateway> {
  const { config, addresses, life, logger, now, signals, telemetry } = core
  const pool = life.owns(
    'pool gateway',
    createPool(addresses.commands, { applicationName: 'forge gateway', ...gatewayPool }),
    opened => opened.end(),
  )
  const spool = openTraffic(core)
  const person = personBy({
    ...{ pool, keys: deps.keys, now, idleHours: config.sessionIdleHours, baseUrl: deps.baseUrl },
    secondFactor: secondFactorPolicy(config),
    onAccessChanged: listener => signals.subscribe('access', ({ username }) => listener(username)),
  })
  const measured = gatewayMetrics(telemetry.registry, () => gateway.underWay())
  const capture = await openCapture({ core, pool, sealing: deps.sealing })
  const gateway: Gateway = createGateway({
    map: new ServingMap(pool),
    engineHeaders: engineHeaders(await readPositionKey(pool)),
    judgeTokens: judgeTokens(await readPositionKey(pool)),
    record(row) {
      spool.record(row)
      measured.recorded(row)
    },
    capture,
    hasRoom: () => spool.hasRoom(),
    newRequestId: () => prefixedId('req'),
    now,
    clock: () => performance.now(),
    silentMs: callerSilentMs,
    addressOf: addressBehind(config.trustedProxyHops),
    isDraining,
    playground: openPlayground({ pool, personOf: nameBy(person) }),
    observed: measured,
    failed: error => logger.warn({ err: error }, 'the gateway could not inspect a request'),
  })
  signals.subscribe('serving', gateway.wake)
  const telling = tellLoad({
    pool,
    gateway_id: prefixedId('gw'),
    take: gateway.takeLoad,
    failed: error => logger.warn({ err: error }, 'the load of deployments could not be reported'),
  })
  life.owns('load', telling, started => started.stop())
  return life.owns('gateway', gateway, opened => opened.close())
}

/** Null for an invalid token; other errors are thrown. */
const nameBy =
  (person: (token: string) => Promise<Person>) =>
  async (token: string): Promise<string | null> => {
    try {
      return (await person(token)).username
    } catch (error) {
      if (error instanceof Refusal && error.code === 'unauthenticated') return null
      throw error
    }
  }

/** The address of a caller behind this many trusted proxies, each of which appends the address it saw. */
export const addressBehind =
  (hops: number) =>
  ({ headers, socket }: IncomingMessage): string => {
    const told = hops === 0 ? [] : String(headers['x-forwarded-for'] ?? '').split(',')
    const [first = ''] = told.slice(-hops)
    return first.trim() || (socket.remoteAddress ?? '')
  }
