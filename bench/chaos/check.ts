import { type Done, expectationsOf, historyBySubject } from '../../test/whole/chaos/expectation.ts'
import { readLedger } from '../../test/whole/chaos/ledger.ts'
import { type Operation, writesOf } from '../../test/whole/chaos/operations.ts'
import { addVerdicts, judge, judgeOrder, type Verdict } from '../../test/whole/chaos/verdict.ts'
import {
  type Reader,
  readLines,
  readParams,
  readPoints,
  readRubric,
  readRuns,
} from './read-back.ts'

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
  switch (subject.kind) {
    case 'metrics':
      return judge(expected, await readPoints(reader, subject.run))
    case 'logs': {
      const lines = await readLines(reader, subject.run)
      const observed = lines.map(register => ({ register, value: 'written' }))
      return addVerdicts([judge(expected, observed), judgeOrder(lines, firstSent(history))])
    }
    case 'hparams':
      return judge(expected, await readParams(reader, subject.run))
    case 'rubric':
      return judge(expected, await readRubric(reader, `${subject.owner}/${subject.name}`))
    case 'run':
      return judge(expected, await readRuns(reader, subject.project))
  }
}

/** The index of each line in the order of first sending. */
function firstSent(history: readonly Done[]): Map<string, number> {
  const order = new Map<string, number>()
  for (const { operation } of history)
    for (const { register } of writesOf(operation))
      if (!order.has(register)) order.set(register, order.size)
  return order
}
