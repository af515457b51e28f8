import { type Done, expectationsOf, historyBySubject } from '../../test/whole/chaos/expectation.ts'
import { readLedger } from '../../test/whole/chaos/ledger.ts'
import { type Operation, writesOf } from '../../test/whole/chaos/operations.ts'
import { addVerdicts, judge, judgeOrder, type Verdict } from '../../test/whole/chaos/verdict.ts'
import { asWritten, type Reader, readBack, readLines } from './read-back.ts'

/** Reads everything in the ledger back through the API and judges it, subject by subject. */
export async function checkLedger(path: string, reader: Reader): Promise<Verdict> {
  const verdicts: Verdict[] = []
  for (const history of historyBySubject(await readLedger(path)).values()) {
    const subject = history[0]?.operation
    if (subject) verdicts.push(await checkSubject(subject, history, reader))
  }
  return addVerdicts(verdicts)
}

async function checkSubject(
  subject: Operation,
  history: readonly Done[],
  reader: Reader,
): Promise<Verdict> {
  const expected = expectationsOf(history)
  if (subject.kind !== 'logs') return judge(expected, await readBack(reader, subject))
  const lines = await readLines(reader, subject.run)
  return addVerdicts([judge(expected, asWritten(lines)), judgeOrder(lines, firstSent(history))])
}

/** The index of each line in the order of first sending. */
function firstSent(history: readonly Done[]): Map<string, number> {
  const order = new Map<string, number>()
  for (const { operation } of history)
    for (const { register } of writesOf(operation))
      if (!order.has(register)) order.set(register, order.size)
  return order
}
