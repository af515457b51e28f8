import { describeIsolation, type Isolation } from '../../executor/node/isolation.ts'
import { type Check, checkAll, type Readiness } from '../../platform/readiness.ts'
import { deadLettersCheck } from '../roles/dead-letters.ts'
import { effectsCheck } from '../roles/effects.ts'
import { isGatewayAlone } from '../settings/config.ts'
import type { Parts } from './parts.ts'

/** Checks the parts that this process needs. */
export async function readinessOf(parts: Parts): Promise<Readiness> {
  const result = await checkAll({
    postgres: whether(parts.hasConnections.commands),
    ...(parts.config.roles.includes('query-api') && {
      reads: whether(parts.hasConnections.reads),
    }),
    ...(!isGatewayAlone(parts.config) && { log: logCheck(parts) }),
    ...(parts.config.roles.includes('command-api') && { effects: () => effectsCheck(parts) }),
    disk: parts.diskRoom.check,
    ...(parts.isolation && { isolation: isolationCheck(parts.isolation) }),
    dead_letters: () => deadLettersCheck(parts),
    ...(parts.relay.current && { relay: parts.progress.relay }),
    ...(parts.backups && { backup: parts.backups }),
    ...(parts.runners.length > 0 && { projector: parts.progress.projector }),
  })
  return parts.isDraining() ? { ...result, status: 'draining' as const } : result
}

const whether = (works: () => Promise<void>) => async (): Promise<Check> => {
  await works()
  return { ok: true }
}

const logCheck =
  ({ topics, log }: Parts) =>
  async (): Promise<Check> => {
    for (const { name } of Object.values(topics)) await log.end(name)
    return { ok: true }
  }

/** The server is ready without isolation too, but says so. */
const isolationCheck = (isolation: Isolation) => async (): Promise<Check> => ({
  ok: true,
  ...describeIsolation(isolation),
})
