import test from 'ava'
import { createRecentReports } from '../../server/http/recent-reports.ts'

test('the newest report of a caller is remembered for ten seconds', t => {
  let nowMs = 0
  const reports = createRecentReports(() => new Date(nowMs))
  reports.note('ada', 'one')
  reports.note('ada', 'two')
  reports.note('bob', 'three')
  t.deepEqual([reports.of('ada'), reports.of('bob'), reports.of('eve')], [['two'], ['three'], []])
  nowMs = 10_000
  t.deepEqual(reports.of('ada'), [])
})

test('with too many callers the least recent one is forgotten', t => {
  const reports = createRecentReports(() => new Date(0))
  for (let at = 0; at < 10_000; at++) reports.note(`caller ${at}`, 'one')
  reports.note('caller 0', 'two')
  reports.note('one more', 'one')
  t.deepEqual(reports.of('caller 0'), ['two'])
  t.deepEqual(reports.of('caller 1'), [])
})
