import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { expectationsOf, historyBySubject } from './expectation.ts'
import { type Entry, openLedger, readLedger } from './ledger.ts'

async function ledgerFile(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-ledger-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return join(folder, 'ledger')
}

const sent = (op: number, salt: number): Entry => ({
  op,
  sent: { kind: 'rubric', owner: 'admin', name: 'style', salt },
})

test('entries are read in the order of writing', async t => {
  const path = await ledgerFile(t)
  const ledger = await openLedger(path)
  const entries = Array.from({ length: 50 }, (_, op) => sent(op, op))
  await Promise.all(entries.map(entry => ledger.write(entry)))
  await ledger.close()
  t.deepEqual(await readLedger(path), entries)
})

test('an entry cut off by a crash counts as never written', async t => {
  const path = await ledgerFile(t)
  const ledger = await openLedger(path)
  await ledger.write(sent(1, 1))
  await ledger.close()
  await appendFile(path, '{"op":2,"sen')
  t.deepEqual(await readLedger(path), [sent(1, 1)])
})

test('an operation without an outcome in the ledger is unknown', t => {
  const histories = historyBySubject([
    sent(1, 7),
    { op: 1, outcome: 'ok', answer: '200' },
    sent(2, 8),
  ])
  const expected = expectationsOf(histories.get('rubric admin/style') ?? [])
  t.deepEqual(expected.get('description'), { acknowledged: '7', possible: new Set(['8']) })
})
