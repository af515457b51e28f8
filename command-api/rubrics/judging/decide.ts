import type { Judging, JudgingEvent, JudgingRequest } from '../../../events/judgings.ts'

export const requestJudging = (judging: Judging, data: JudgingRequest): JudgingEvent[] => {
  if (judging) throw new Error('the id of a judging was taken')
  return [{ type: 'judging.requested', data }]
}

type End = {
  judging_id: string
  /** Why it was given up; null if every sample has an outcome. */
  reason: string | null
  scored: number
  cached: number
  failed: number
}

/** Ends once. Without a single score it has failed. */
export function endJudging(judging: Judging, { reason, ...end }: End): JudgingEvent[] {
  if (!judging?.isOpen) return []
  const isEmpty = end.scored + end.cached === 0
  const why = reason ?? (isEmpty ? emptyReason(end) : null)
  const state = why === null ? 'succeeded' : 'failed'
  return [{ type: 'judging.ended', data: { ...end, state, reason: why } }]
}

/** Nothing if it has ended. */
export const cancelJudging = (judging: Judging, judging_id: string): JudgingEvent[] =>
  judging?.isOpen ? [{ type: 'judging.cancelled', data: { judging_id } }] : []

const emptyReason = ({ failed }: End | Omit<End, 'reason'>): string =>
  failed === 0 ? 'the round has no samples' : 'the judge gave no valid score'
