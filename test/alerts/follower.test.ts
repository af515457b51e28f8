import test from 'ava'
import type { Alert } from '../../schemas/alerts.ts'
import type { Notification } from '../../schemas/notifications.ts'
import { type Forge, startForge, startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

const withinMs = 30_000

const report = (forge: Forge, run: ExternalRun, step: number, value: number | 'NaN') =>
  ingest(forge, run, 'metrics', { points: [{ key: 'train/loss', step, value }] })

const alertsOf = async (forge: Forge, { run_id }: ExternalRun) =>
  (await forge.call<Alert[]>('GET', `/api/runs/${run_id}/alerts`)).body

const fired = async (forge: Forge) => {
  const { rows } = await forge.pool.query(
    `select type, data ->> 'short_id' as run from write.event where type like 'alert.%' order by position`,
  )
  return rows.map(({ type, run }) => `${type} ${run}`)
}

test('a loss that is not a number fires once despite kills, and a rebuild fires nothing', async t => {
  t.timeout(patient(240_000))
  const forge = await startForgeProcess(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  await report(forge, run, 1, 0.5)
  await report(forge, run, 2, 'NaN')
  const [alert] = await until('it fires', withinMs, async () => {
    const found = await alertsOf(forge, run)
    return found.length > 0 && found
  })
  t.like(alert, {
    run_id: run.run_id,
    rule: 'loss_nonfinite',
    source: 'default',
    kind: 'metric_alert',
    level: 'error',
    title: 'train/loss is NaN at step 2',
    key: 'train/loss',
    step: 2,
    value: 'NaN',
    state: 'open',
    attempt: null,
    resolved_at: null,
  })
  const told = await until('its owner is notified', withinMs, async () => {
    const { body } = await forge.call<Notification[]>('GET', '/api/notifications')
    return body.find(({ kind }) => kind === 'metric_alert')
  })
  t.like(told, { title: `${run.short_id}: ${alert?.title}`, level: 'error', count: 1 })
  t.is(told?.url, `/runs/${run.run_id}`)
  const { body } = await forge.call<{ counts: { alerts: number } }>(
    'GET',
    `/api/runs/${run.run_id}`,
  )
  t.is(body.counts.alerts, 1)

  await forge.kill()
  // As if the process had died between the report and its checkpoint: everything is read again.
  await forge.pool.query('update write.follower set next_offset = 0')
  await forge.pool.query('delete from write.follower_effect')
  await forge.start()
  const marker = await createRun(forge)
  await report(forge, run, 3, 'NaN')
  await report(forge, marker, 1, 'NaN')
  await until('what came after is read', withinMs, async () => (await fired(forge)).length === 2)
  t.deepEqual(await fired(forge), [`alert.fired ${run.short_id}`, `alert.fired ${marker.short_id}`])

  await report(forge, run, 4, 0.4)
  await until('it is resolved', withinMs, async () => {
    const [found] = await alertsOf(forge, run)
    return found?.state === 'resolved' && found
  })
  t.like((await alertsOf(forge, run))[0], { resolution: 'recovered' })

  const before = await fired(forge)
  const read = await alertsOf(forge, run)
  await forge.call('POST', '/api/admin/projections/all/rebuild')
  await until('the rebuild is done', 60_000, async () => {
    const { body: state } = await forge.call<{ rebuild: { state: string } }>(
      'GET',
      '/api/admin/projections',
    )
    return state.rebuild.state === 'succeeded'
  })
  await report(forge, run, 5, 0.3)
  t.deepEqual(await fired(forge), before)
  t.deepEqual(await alertsOf(forge, run), read)
})

test('idle GPUs raise an alert, which the end of the run closes', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  const now = Date.now()
  const sample = (minutesAgo: number) => ({
    ts: new Date(now - minutesAgo * 60_000).toISOString(),
    ...{ node: 'n1', scope: 'gpu', index: 0, util_pct: 3 },
  })
  await ingest(forge, run, 'hardware', { points: [45, 30, 15, 0].map(sample) })
  const [alert] = await until('it fires', withinMs, async () => {
    const found = await alertsOf(forge, run)
    return found.length > 0 && found
  })
  t.like(alert, {
    ...{ rule: 'gpu_idle', kind: 'job_wasting_gpu', level: 'warn', state: 'open', key: null },
    title: 'All GPUs below 10 % for 30 minutes',
  })
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  const [closed] = await until('it is closed', withinMs, async () => {
    const found = await alertsOf(forge, run)
    return found[0]?.state === 'resolved' && found
  })
  t.is(closed?.resolution, 'run_ended')
  t.is((await alertsOf(forge, run)).length, 1)
})
