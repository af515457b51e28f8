import test from 'ava'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { readKeys } from '../../query-api/metrics/read.ts'
import { findRunNo, inSnapshot } from '../../query-api/metrics/store.ts'
import { emptyStore, flush, report } from './given.ts'

test('a read during which a rebuild flips sees one generation, not the numbers of one in the tables of the other', async t => {
  const store = await emptyStore(t)
  await flush(store, [report('run_a', [{ key: 'loss', step: 1, value: 1 }])])
  /** The same content, with other numbers, under the same names. */
  const flip = () =>
    inTransaction(store.pool, async tx => {
      await tx.query('create schema read_next')
      for (const table of ['metric_run', 'generation'])
        await tx.query(`create table read_next.${table} (like read.${table} including all)`)
      await tx.query('insert into read_next.metric_run select * from read.metric_run')
      await tx.query('update read_next.metric_run set run_no = run_no + 100')
      await tx.query('alter schema read rename to read_old')
      await tx.query('alter schema read_next rename to read')
    })
  const seen: (number | null)[][] = []
  await inSnapshot(store.db, async tx => {
    const first = await findRunNo(tx, 'run_a')
    if (seen.length === 0) await flip()
    seen.push([first, await findRunNo(tx, 'run_a')])
  })
  t.deepEqual(seen, [
    [1, null],
    [101, 101],
  ])
})

test('a failing read that no flip explains fails', async t => {
  const { db } = await emptyStore(t)
  t.deepEqual(await readKeys(db, 'run_unknown'), [])
  await t.throwsAsync(
    inSnapshot(db, async () => {
      throw new Error('on purpose')
    }),
    { message: 'on purpose' },
  )
})
