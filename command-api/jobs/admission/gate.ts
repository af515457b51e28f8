import type { RefusalCode } from '../../../platform/refusal.ts'
import type { AdmissionFacts } from './facts.ts'

type Passed = { ok: true; detail: string; data?: Record<string, unknown> }
export type Refused = {
  ok: false
  detail: string
  code: string
  data?: Record<string, unknown>
  hint?: string
  refusal?: RefusalCode
}
export type Answer = Passed | Refused
/** Pure and independent: the result depends only on the facts, not on other gates. */
export type Gate = (facts: AdmissionFacts) => Answer
