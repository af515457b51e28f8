import type { Expectation } from './expectation.ts'
import type { Write } from './operations.ts'

export type Fault = 'lost' | 'duplicated' | 'phantom' | 'wrong'

/** How many registers show each fault, with a few of them by name. */
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
 * Compares what was read with what the ledger allows. `lost`: acknowledged and not there. `duplicated`: there
 * more than once, each further time counted. `phantom`: there though never sent, or only sent in vain.
 * `wrong`: another value than the last acknowledged one, and none that went unanswered.
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

/** Lines of one log that stand before one of the same log sent later; each counts as wrong. */
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
