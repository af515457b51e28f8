import type { Entry, Outcome } from './ledger.ts'
import { type Operation, subjectOf, writesOf } from './operations.ts'

/** The permitted values of one register. */
export type Expectation = {
  /** The last acknowledged value; if null, the register may be empty. */
  acknowledged: string | null
  /** Values whose writes got no response: each may have been applied at any time, or never. */
  possible: ReadonlySet<string>
}

export type Done = { operation: Operation; outcome: Outcome }

/** Operations by subject, in sending order. An operation without an outcome in the ledger is `unknown`. */
export function historyBySubject(entries: readonly Entry[]): Map<string, Done[]> {
  const outcomes = new Map<number, Outcome>()
  for (const entry of entries) if ('outcome' in entry) outcomes.set(entry.op, entry.outcome)
  const histories = new Map<string, Done[]>()
  for (const entry of entries) {
    if (!('sent' in entry)) continue
    const subject = subjectOf(entry.sent)
    const history = histories.get(subject) ?? []
    history.push({ operation: entry.sent, outcome: outcomes.get(entry.op) ?? 'unknown' })
    histories.set(subject, history)
  }
  return histories
}

/** Folds the operations on one subject; a register with only failed writes has no entry. */
export function expectationsOf(history: readonly Done[]): Map<string, Expectation> {
  const registers = new Map<string, { acknowledged: string | null; possible: Set<string> }>()
  for (const { operation, outcome } of history) {
    if (outcome === 'failed') continue
    for (const { register, value } of writesOf(operation)) {
      const known = registers.get(register) ?? { acknowledged: null, possible: new Set<string>() }
      if (outcome === 'ok') known.acknowledged = value
      else known.possible.add(value)
      registers.set(register, known)
    }
  }
  return registers
}
