import type { Person } from '../../auth/caller.ts'
import { type ReflowPreview, reflowLimits, scrubKinds } from '../../schemas/reflows.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Deps } from '../deps.ts'
import { capturedNow } from './captured.ts'
import { reflowFor } from './find.ts'
import type { ReflowSources } from './port.ts'
import { scoresBy } from './scores.ts'
import { pagesOf } from './sources.ts'
import { type Taken, Taking } from './take.ts'

type Request = { caller: Person; params: { reflow_id: string } }

/** What the next firing would take, of the first rows; stores nothing. */
export async function previewReflow(
  deps: Deps,
  sources: ReflowSources,
  { caller, params: { reflow_id } }: Request,
): Promise<ReflowPreview> {
  const reflow = await reflowFor(deps, reflow_id, caller)
  const after = reflow.take === 'all' ? 0 : reflow.reached
  const taking = new Taking(reflow, await scoresBy(deps, sources, { ...reflow, caller }))
  const shown: Taken[] = []
  let truncated = false
  const of = { rule: reflow, caller, after, until: Number.MAX_SAFE_INTEGER }
  for await (const { looked } of pagesOf({ deps, sources }, of)) {
    if (taking.counts.seen >= reflowLimits.previewed) {
      truncated = true
      break
    }
    const taken = await taking.take(looked)
    shown.push(...taken.slice(0, reflowLimits.shown - shown.length))
  }
  const { deployment_id } = reflow.source
  return {
    reflow_id,
    counts: taking.counts,
    truncated,
    rows: shown.map(({ source, at, row, scrubbed, score, sample }) => ({
      ...{ source, at, row, score, sample },
      scrubbed: scrubKinds.filter(kind => scrubbed[kind] > 0),
    })),
    captured: deployment_id === null ? null : await capturedOf(deps, deployment_id),
  }
}

const mebibyte = 1024 ** 2

async function capturedOf({ pool, config }: Deps, deployment_id: string) {
  const { oldest_at, dropped_at, evicted_at, ...counts } = await capturedNow(pool, deployment_id)
  return {
    ...{ ...counts, retention_days: config.captureDays, limit_bytes: config.captureMb * mebibyte },
    oldest_at: oldest_at && toTimestamp(oldest_at),
    dropped_at: dropped_at && toTimestamp(dropped_at),
    evicted_at: evicted_at && toTimestamp(evicted_at),
  }
}
