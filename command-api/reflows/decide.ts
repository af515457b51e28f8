import type { Reflow, ReflowEvent } from '../../events/reflows.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { ReflowCounts } from '../../schemas/reflows.ts'

type Data<T extends ReflowEvent['type']> = Extract<ReflowEvent, { type: T }>['data']

export const createReflow = (reflow: Reflow, data: Data<'reflow.created'>): ReflowEvent[] =>
  reflow ? [] : [{ type: 'reflow.created', data }]

export const noSuchReflow = (reflow_id: string) =>
  new Refusal('not_found', `No such reflow: ${reflow_id}`)

const identityOf = ({ reflow_id, owner, name }: NonNullable<Reflow>) => ({ reflow_id, owner, name })

/** The firing of this window, or the one under way, if there is one; both make a further run change nothing. */
export function knownFiring(reflow: NonNullable<Reflow>, window: string | null) {
  const known = window === null ? undefined : reflow.windows.find(one => one.window === window)
  if (known) return { firing: known.firing, state: known.state }
  return reflow.open && { firing: reflow.open.firing, state: 'running' as const }
}

/** `until`: the newest captured request. */
export function startFiring(
  reflow: Reflow,
  { reflow_id, window, until }: { reflow_id: string; window: string | null; until: number },
): ReflowEvent[] {
  if (!reflow) throw noSuchReflow(reflow_id)
  if (knownFiring(reflow, window)) return []
  const firing = reflow.firings + 1
  const after = reflow.take === 'all' ? 0 : reflow.reached
  return [{ type: 'reflow.started', data: { ...identityOf(reflow), firing, window, after, until } }]
}

type Ended = {
  firing: number
  ref: string | null
  created: boolean
  counts: ReflowCounts
  reached: number
}

/** A firing ends once. */
export function endFiring(reflow: Reflow, ended: Ended): ReflowEvent[] {
  if (reflow?.open?.firing !== ended.firing) return []
  return [{ type: 'reflow.ended', data: { ...identityOf(reflow), ...ended } }]
}

export function failFiring(
  reflow: Reflow,
  failed: { firing: number; reason: string },
): ReflowEvent[] {
  if (reflow?.open?.firing !== failed.firing) return []
  return [{ type: 'reflow.failed', data: { ...identityOf(reflow), ...failed } }]
}

export function deleteReflow(reflow: Reflow, reflow_id: string): ReflowEvent[] {
  if (!reflow) throw noSuchReflow(reflow_id)
  return [{ type: 'reflow.deleted', data: identityOf(reflow) }]
}
