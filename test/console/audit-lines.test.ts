import test from 'ava'
import {
  folded,
  instantOf,
  localOf,
  named,
  runsIn,
} from '../../clients/console/src/pages/admin/folded.ts'
import type { AuditRow } from '../../schemas/audit.ts'

const run = 'run_01M8E1RF1HN6070ESZ5QAW1P9V'
const row = (type: string, actor: AuditRow['actor'], position: number): AuditRow => ({
  ...{ position, event_id: String(position), type, actor, version: 1, data: {} },
  ...{ at: '2026-11-27T00:00:00Z', occurred_at: '2026-11-27T00:00:00Z', request_id: 'r' },
  ...{ causation_id: null, target: { type: 'run', id: run }, summary: `of ${run}` },
})
const code: AuditRow['actor'] = { type: 'run', id: run, via: 'ingest_token' }
const ada: AuditRow['actor'] = { type: 'user', id: 'ada', via: 'password' }

test('events of one kind by a run are one line, those of people never', t => {
  const rows = [
    ...[row('artifact.registered', code, 9), row('artifact.registered', code, 8)],
    ...[row('run.ended', code, 7), row('user.signed_in', ada, 6), row('user.signed_in', ada, 5)],
    row('artifact.registered', code, 4),
  ]
  t.deepEqual(
    folded(rows).map(line => [line.row.position, line.rows.length]),
    [
      [9, 2],
      [7, 1],
      [6, 1],
      [5, 1],
      [4, 1],
    ],
  )
})

test('ids of runs are shown as their short ids, where those are known', t => {
  t.deepEqual(runsIn([row('run.ended', code, 1)], 10), [run])
  t.deepEqual(runsIn([row('run.ended', code, 1)], 0), [])
  t.is(
    named(`The code of ${run} ended`, new Map([[run, 'vision-1']])),
    'The code of vision-1 ended',
  )
  t.is(named(`job:${run}`, new Map()), `job:${run}`)
})

test('a chosen date and time is an instant, which the field shows again unchanged', t => {
  const instant = instantOf('2026-11-01T12:30')
  t.regex(String(instant), /^2026-1[01]-\d\dT\d\d:\d\d:00\.000Z$/)
  t.is(localOf(instant), '2026-11-01T12:30')
  t.is(instantOf(''), undefined)
  t.is(localOf(undefined), '')
  t.is(localOf('yesterday'), '')
})
