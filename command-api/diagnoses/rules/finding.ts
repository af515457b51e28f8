import type { DiagnosisFacts } from '../../../events/diagnosis-facts.ts'
import type { blames, Evidence, FailureCategory, Suggestion } from '../../../schemas/diagnoses.ts'
import type { CaseLine, Traceback } from './traceback.ts'

export type Origin = {
  node: string | null
  rank: number | null
  ts: number | null
  step: number | null
}

/** An explanation of a failure. The explanation with the highest confidence is shown. */
export type Finding = {
  category: FailureCategory
  subcategory: string | null
  blame: (typeof blames)[number]
  confidence: number
  title: string
  root_cause: string
  origin: Origin
  evidence: Evidence[]
  suggestions: Suggestion[]
  /** Identifies equal failures, together with the category; numbers, addresses and paths are removed from it. */
  sameness: string
  /** Whether it may be the consequence of another process's failure, e.g. a broken connection. */
  isEcho: boolean
}

/** The facts, with derived values that several rules need. */
export type Case = DiagnosisFacts & {
  /** Without the prefixes of launchers, and no longer than a rule may read. */
  texts: readonly CaseLine[]
  tracebacks: readonly Traceback[]
}

export type Rule = (given: Case) => Finding[]

export const nowhere: Origin = { node: null, rank: null, ts: null, step: null }

/** `on rank 3`, or nothing. */
export const onRank = (rank: number | null): string => (rank === null ? '' : ` on rank ${rank}`)

/** The newest step that any metric had reported by then. */
export function stepAt({ metrics }: Pick<Case, 'metrics'>, ts: number): number | null {
  const steps = metrics.flatMap(({ points }) => {
    const before = points.filter(point => point.ts <= ts)
    return before.length === 0 ? [] : [Math.max(...before.map(({ step }) => step))]
  })
  return steps.length === 0 ? null : Math.max(...steps)
}

export const originOf = (given: Case, { node, rank, ts }: CaseLine): Origin => ({
  node,
  rank,
  ts,
  step: stepAt(given, ts),
})

export const logEvidence = (
  { seq, node, rank }: CaseLine,
  excerpt: string,
  weight: number,
): Evidence => ({ kind: 'log', ref: { offset: seq, node, rank }, excerpt, weight })

export const exitEvidence = ({ attempt }: Case, excerpt: string, weight: number): Evidence => ({
  kind: 'exit',
  ref: { attempt },
  excerpt,
  weight,
})
