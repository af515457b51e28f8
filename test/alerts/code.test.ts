import test from 'ava'
import { raise } from '../../command-api/alerts/decide.ts'
import { type AlertFired, alerts, codeWindowMs, maxOfCode } from '../../events/alerts.ts'
import type { Alert } from '../../schemas/alerts.ts'
import type { Notification } from '../../schemas/notifications.ts'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

const start = new Date('2026-11-20T12:00:00Z')
const fired = (report_id: string | null): AlertFired => ({
  ...{ run_id: 'run_1', short_id: 'demo-1', project: 'demo', owner: 'ada', alert_id: 'alr_1' },
  ...{ attempt: null, rule: 'code', source: 'code', kind: 'metric_alert', level: 'warn' },
  ...{ title: 't', text: '', key: null, step: null, value: null, lasting: false },
  ...{ consequences: ['notify'], report_id },
})
const actor = { type: 'run', id: 'run_1', via: 'ingest_token' } as const

/** The alerts after this many reports of the code at one time. */
const after = (count: number, now = start) =>
  Array.from({ length: count }, (_, n) => n).reduce(
    (state, n) =>
      raise(state, fired(`r${n}`), now).reduce(
        (folded, one) => alerts.evolve(folded, { ...one, occurred_at: now.toISOString(), actor }),
        state,
      ),
    alerts.initial,
  )

test("a run's code has an hourly limit of alerts, and a refusal says when the next is allowed", t => {
  const full = after(maxOfCode)
  const half = new Date(start.getTime() + codeWindowMs / 2)
  t.throws(() => raise(full, fired('another'), half), { message: /within an hour.* 1800 s$/ })
  t.is(raise(full, fired('another'), new Date(start.getTime() + codeWindowMs)).length, 1)
})

test('a repeated report is the same alert, even when the hourly limit is reached', t => {
  t.deepEqual(raise(after(maxOfCode), fired('r3'), start), [])
  t.is(raise(after(1), fired(null), start).length, 1)
})

const shared = sharedForge()

test('the owner is notified once of an alert raised by code', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const report = {
    title: 'Reward collapsed',
    level: 'error',
    text: 'from 0.6\nto 0.1',
    report_id: 'one',
  }
  t.deepEqual(await ingest(forge, run, 'alert', report), { ok: true, already: false })
  t.deepEqual(await ingest(forge, run, 'alert', report), { ok: true, already: true })
  await ingest(forge, run, 'alert', { title: 'Second' })
  const body = await until('both can be read', 20_000, async () => {
    const listed = await forge.call<Alert[]>('GET', `/api/runs/${run.short_id}/alerts`)
    return listed.body.length >= 2 && listed.body
  })
  t.is(body.length, 2)
  t.like(body[0], { title: 'Second', level: 'warn', text: '' })
  t.like(body[1], {
    ...{ title: 'Reward collapsed', level: 'error', text: 'from 0.6\nto 0.1' },
    ...{ rule: 'code', source: 'code', state: 'noted', resolved_at: null },
  })
  const told = await until('the owner is notified', 20_000, async () => {
    const all = await forge.call<Notification[]>('GET', '/api/notifications')
    return all.body.find(({ target, count }) => target?.id === run.run_id && count === 2)
  })
  t.is(told.kind, 'metric_alert')
  t.is(told.title, `${run.short_id}: Second`)
  const open = await forge.call<Alert[]>('GET', `/api/runs/${run.run_id}/alerts?state=open`)
  t.deepEqual(open.body, [])
})

test('excess alerts are refused with the time to wait', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  for (let n = 0; n < maxOfCode; n++) await ingest(forge, run, 'alert', { title: `t${n}` })
  const { status, headers, body } = await forge.call('POST', '/api/ingest/alert', {
    token: run.token,
    body: { run_id: run.run_id, title: 'one more' },
  })
  t.is(status, 429)
  t.is(body.code, 'alert.too_many')
  const seconds = Number(headers.get('retry-after'))
  t.true(seconds > 3500 && seconds <= 3600, String(seconds))
})

test('the owner is notified when an unrequested diagnosis of a failure is ready', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await ingest(forge, run, 'logs', { chunks: ['KeyError: "epoch"'] })
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 1 })
  const [alert] = await until('the alert is announced', 60_000, async () => {
    const { body } = await forge.call<Alert[]>('GET', `/api/runs/${run.run_id}/alerts`)
    return body.length > 0 && body
  })
  t.like(alert, { rule: 'diagnosis_ready', kind: 'diagnosis_ready', level: 'info', state: 'noted' })
})
