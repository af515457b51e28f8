import test from 'ava'
import { nextStart } from '../../clients/console/src/session/page-starts.ts'

const page = (rows: number, total: number | null) => ({ rows: Array(rows).fill(0), total })

test('reading a list continues where the last page ended, even if that was short', t => {
  t.is(nextStart([0], page(500, 1200)), 500)
  t.is(nextStart([0, 500], page(37, 1200)), 537)
  t.is(nextStart([0], page(500, null)), 500)
})

test('a list ends where the server says so, where no more rows come, and at the limit of skipping', t => {
  t.is(nextStart([0, 500], page(10, 510)), null)
  t.is(nextStart([0], page(0, 0)), null)
  t.is(nextStart([0, 500], page(0, null)), null)
  t.is(nextStart([0], undefined), null)
  t.is(nextStart([100_000], page(500, null)), null)
})
