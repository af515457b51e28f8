import { join } from 'node:path'
import type { Pool } from 'pg'
import { Counter } from 'prom-client'
import { sealedForRequest, subjectsOf } from '../../auth/captured.ts'
import { readPositionKey } from '../../auth/position-key.ts'
import type { SealingKeys } from '../../auth/sealing-keys.ts'
import { countDropped, keepCaptured } from '../../command-api/reflows/keep-captured.ts'
import type { Capture, CapturedPair } from '../../gateway/capture/pair.ts'
import { startShipping } from '../../gateway/traffic/ship.ts'
import { TrafficSpool } from '../../gateway/traffic/spool.ts'
import { repeat } from '../../platform/repeat.ts'
import type { CapturedContent, CapturedRow } from '../../schemas/captured.ts'
import type { Core } from '../core.ts'

/** Waiting on disk for the database, in bytes. */
const maxBytes = 256 * 1024 * 1024
const countEveryMs = 1_000
/** The longest name of a person that is looked at. */
const maxUser = 1024

type Needed = { core: Core; pool: Pool; sealing: SealingKeys }

/**
 * Keeps captured requests on disk, sealed, and stores them in the database about a second later. It fails no request, and counts
 * pairs that it cannot keep.
 */
export async function openCapture({ core, pool, sealing }: Needed): Promise<Capture> {
  const { config, life, logger, now, telemetry } = core
  const spool = new TrafficSpool<CapturedRow>({
    folder: join(config.dataDir, 'captured'),
    maxBytes,
  })
  const subjectOf = subjectsOf(await readPositionKey(pool))
  const drops = countingDrops(core, pool)
  const shipping = startShipping<CapturedRow>({
    spool,
    now,
    append: (_, rows) =>
      keepCaptured(pool, rows, { limitBytes: config.captureMb * 1024 ** 2, now: now() }),
    failed: error => logger.warn({ err: error }, 'captured requests wait for the database'),
    damaged: (path, rows) => logger.error({ path, rows }, 'captured requests were damaged on disk'),
  })
  life.owns('capture', shipping, started => started.stop())
  const kept = new Counter({
    name: 'forge_captured_requests_total',
    help: 'Captured requests with their responses.',
    registers: [telemetry.registry],
  })
  return {
    keep(pair) {
      try {
        spool.record(toRow(pair, sealing, subjectOf))
        kept.inc()
      } catch {
        drops.add(pair.row.deployment_id)
      }
    },
    dropped: drops.add,
  }
}

function toRow(
  { row, request, response, isStream }: CapturedPair,
  sealing: SealingKeys,
  subjectOf: ReturnType<typeof subjectsOf>,
): CapturedRow {
  const { request_id, deployment_id, token_id, started_at } = row
  const { revision_id, path, model, stream, status, duration_ms } = row
  const { prompt_tokens, completion_tokens } = row
  const content: CapturedContent = {
    ...{ revision_id, path, model, stream, status, duration_ms, prompt_tokens, completion_tokens },
    ...{ request, response, is_stream: isStream },
  }
  const user = userIn(request)
  return {
    ...{ request_id, deployment_id, token_id, started_at },
    subject: user === null ? null : subjectOf(deployment_id, user),
    sealed: sealing.seal(JSON.stringify(content), sealedForRequest(request_id)),
  }
}

/** By the API for chat of OpenAI: `user`, or `safety_identifier`, which replaces it. */
function userIn(request: string): string | null {
  const { user, safety_identifier } = JSON.parse(request) as Record<string, unknown>
  const named = [safety_identifier, user].find(one => typeof one === 'string' && one !== '')
  return named === undefined ? null : String(named).slice(0, maxUser)
}

function countingDrops({ life, logger, now, telemetry }: Core, pool: Pool) {
  const waiting = new Map<string, number>()
  const dropped = new Counter({
    name: 'forge_captures_dropped_total',
    help: 'Requests of tokens that capture which could not be kept: too long, no text, or no room.',
    registers: [telemetry.registry],
  })
  const store = async () => {
    for (const [deployment_id, count] of [...waiting]) {
      await countDropped(pool, deployment_id, { dropped: count, now: now() })
      const rest = (waiting.get(deployment_id) ?? 0) - count
      if (rest > 0) waiting.set(deployment_id, rest)
      else waiting.delete(deployment_id)
    }
    return countEveryMs
  }
  const failed = (error: unknown) =>
    logger.warn({ err: error }, 'dropped captures could not be counted')
  const counting = repeat(store, { failed })
  life.owns('dropped captures', counting, async started => {
    await started.stop()
    await store().catch(failed)
  })
  return {
    add(deployment_id: string) {
      dropped.inc()
      waiting.set(deployment_id, (waiting.get(deployment_id) ?? 0) + 1)
    },
  }
}
