import { type Check, checkAll, type Readiness } from '../platform/readiness.ts'
import { effectsCheck } from './effects.ts'
import type { Parts } from './parts.ts'

/** Checks the parts that this process needs. */
export async function readinessOf(parts: Parts): Promise<Readiness> {
  const result = await checkAll({
    postgres: async () => {
      await parts.deps.pool.query('select 1')
      return { ok: true }
    },
    log: async () => {
      await parts.log.end(parts.topics.decisions.name)
      return { ok: true }
    },
    ...(parts.config.roles.includes('command-api') && { effects: () => effectsCheck(parts) }),
    ...(parts.runners.length > 0 && { projector: () => projectorCheck(parts) }),
  })
  return parts.isDraining() ? { ...result, status: 'draining' as const } : result
}

async function projectorCheck({ runners }: Parts): Promise<Check> {
  const statuses = runners.map(runner => runner.status())
  const halted = statuses.filter(status => status.halted !== null)
  return {
    ok: halted.length === 0,
    projections: statuses.map(({ projection, halted: why, checkpoints }) => ({
      projection,
      halted: why,
      checkpoints: checkpoints.map(String),
    })),
  }
}
