import type { Expectation } from './expectation.ts'
import type { Write } from './operations.ts'

export type Fault = 'lost' | 'duplicated' | 'phantom' | 'wrong'

/** Number of registers per fault, with a few examples. */
export type Verdict = Record<Fault, number> & { checked: number; examples: string[] }

const examplesShown = 20

export const noFaults = (): Verdict => ({
  lost: 0,
  duplicated: 0,
  phantom: 0,
  wrong: 0,
  checked: 0,
  examples: [],
})

/**
 * Compares the read values with the ledger. `lost`: acknowledged but missing. `duplicated`: each occurrence beyond
 * the first. `phantom`: present though never sent, or only refused. `wrong`: neither the last acknowledged value
 * nor one without a response.
 */
export function judge(
  expected: ReadonlyMap<string, Expectation>,
  observed: Iterable<Write>,
): Verdict {
  const verdict = noFaults()
  const seen = new Set<string>()
  for (const { register, value } of observed) {
    const expectation = expected.get(register)
    if (seen.has(register)) note(verdict, 'duplicated', `${register} = ${value}`)
    else if (!expectation) note(verdict, 'phantom', `${register} = ${value}`)
    else if (value !== expectation.acknowledged && !expectation.possible.has(value))
      note(verdict, 'wrong', `${register} = ${value}, not ${expectation.acknowledged}`)
    seen.add(register)
  }
  for (const [register, { acknowledged }] of expected)
    if (acknowledged !== null && !seen.has(register))
      note(verdict, 'lost', `${register} = ${acknowledged}`)
  verdict.checked = expected.size
  return verdict
}

/** Lines of a log that are out of sending order; each counts as wrong. */
export function judgeOrder(
  lines: readonly string[],
  sentOrder: ReadonlyMap<string, number>,
): Verdict {
  const verdict = noFaults()
  let latest = -1
  for (const line of lines) {
    const order = sentOrder.get(line)
    if (order === undefined) continue
    if (order < latest) note(verdict, 'wrong', `${line} stands after a line sent later`)
    latest = Math.max(latest, order)
  }
  return verdict
}

export function addVerdicts(verdicts: readonly Verdict[]): Verdict {
  const sum = noFaults()
  for (const verdict of verdicts) {
    for (const fault of ['lost', 'duplicated', 'phantom', 'wrong', 'checked'] as const)
      sum[fault] += verdict[fault]
    sum.examples.push(...verdict.examples.slice(0, examplesShown - sum.examples.length))
  }
  return sum
}

export const isClean = ({ lost, duplicated, phantom, wrong }: Verdict): boolean =>
  lost + duplicated + phantom + wrong === 0

export const summary = ({ lost, duplicated, phantom, wrong }: Verdict): string =>
  `lost ${lost} duplicated ${duplicated} phantom ${phantom} wrong ${wrong}`

function note(verdict: Verdict, fault: Fault, example: string): void {
  verdict[fault]++
  if (verdict.examples.length < examplesShown) verdict.examples.push(`${fault}: ${example}`)
}
