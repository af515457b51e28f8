import test from 'ava'
import { offered } from '../../clients/console/src/pages/run/rules.ts'
import { afterEditOf } from '../../clients/console/src/pages/runs/live-state.ts'
import type { RunRow } from '../../schemas/runs/records.ts'
import { sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { forgeWithSpare } from '../servers/spare.ts'
import { until } from '../servers/until.ts'
import { axeFinds, becomes, createPerson, keepViews, openSignedIn } from './browse.ts'

const shared = sharedForge()

test('an edit changes the row that it is about, and no other', t => {
  const row = { run_id: 'run_1', name: 'a', notes: 'kept', silent_since: null } as RunRow
  const silent_since = '2026-11-27T00:00:00+00:00'
  t.like(afterEditOf(row, { run_id: 'run_1', silent_since }), { name: 'a', silent_since })
  t.like(afterEditOf(row, { run_id: 'run_1', name: 'b' }), { name: 'b', notes: 'kept' })
  t.is(afterEditOf(row, { run_id: 'run_2', name: 'b' }), row)
})

test('a silent run is offered to be ended', t => {
  const now = { state: 'running', isJob: false, isDeleted: false, isArchived: false }
  t.deepEqual(offered(now).first, ['stop'])
  t.deepEqual(offered({ ...now, isSilent: true }).first, ['stop', 'forceStop'])
})

test('what others change about a run appears in open lists and on its open page, also after its end', async t => {
  const forge = await shared()
  await createPerson(forge, 'eva')
  const { page, another, faults, call } = await openSignedIn(t, forge, 'eva')
  const run = await createRun({ call }, 'edited')
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  await page.goto(`${forge.url}/runs`)
  await page.getByRole('link', { name: run.short_id }).waitFor()
  const ofRun = await another()
  await ofRun.goto(`${forge.url}/runs/${run.short_id}`)
  await ofRun.getByRole('heading', { name: run.short_id }).waitFor()
  for (const open of [page, ofRun]) await open.getByText('Live', { exact: true }).waitFor()

  // By an administrator, in no session of this browser.
  const path = `/api/runs/${run.run_id}`
  await forge.call('PATCH', path, { body: { name: 'renamed elsewhere', tags: ['theirs'] } })
  await page.getByRole('link', { name: 'renamed elsewhere' }).waitFor()
  await ofRun.getByRole('heading', { name: 'renamed elsewhere' }).waitFor()
  await ofRun.getByText('theirs', { exact: true }).waitFor()
  await forge.call('PATCH', path, { body: { starred: true } })
  for (const open of [page, ofRun]) {
    const star = open.getByRole('button', { name: `Star ${run.short_id}`, exact: true })
    await becomes(t, () => star.getAttribute('aria-pressed'), 'true')
  }
  t.deepEqual(faults, [])
})

test('a run that has fallen silent says so in the list and on its page, until it is heard again', async t => {
  const forge = await shared()
  await createPerson(forge, 'sam')
  const { page, faults, call } = await openSignedIn(t, forge, 'sam')
  const run = await createRun({ call }, 'quiet')
  await ingest(forge, run, 'lifecycle', { event: 'running' })
  // As the timers of the server find it two minutes after its process was killed.
  await forge.pool.query(
    `update write.run_state set last_report_at = now() - interval '1 hour' where run_id = $1`,
    [run.run_id],
  )
  await page.goto(`${forge.url}/runs`)
  await until('the server says so', 200_000, async () => {
    const { body } = await call<{ silent_since: string | null }>('GET', `/api/runs/${run.run_id}`)
    return body.silent_since
  })
  await page.getByText('running · silent').waitFor()
  await page.goto(`${forge.url}/runs/${run.short_id}`)
  await page.getByText(/^Last heard from/).waitFor()
  await page.getByRole('button', { name: 'Force stop' }).waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'silent-run')
  await ingest(forge, run, 'metrics', { points: [{ key: 'loss', step: 1, value: 2 }] })
  await page.getByText(/^Last heard from/).waitFor({ state: 'detached' })
  t.deepEqual(faults, [])
})

test('the page of a deleted run offers to restore it to people who may', async t => {
  const forge = await shared()
  await createPerson(forge, 'dee')
  await createPerson(forge, 'oth')
  const { page, faults, call } = await openSignedIn(t, forge, 'dee')
  const run = await createRun({ call }, 'removed')
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  await call('DELETE', `/api/runs/${run.run_id}`)
  await page.goto(`${forge.url}/runs/${run.short_id}`)
  await page.getByText(/It can be restored until/).waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'deleted-run')
  const other = await openSignedIn(t, forge, 'oth')
  await other.page.goto(`${forge.url}/runs/${run.short_id}`)
  await other.page.getByRole('heading', { name: 'Not found' }).waitFor()
  await page.getByRole('button', { name: 'Restore' }).click()
  await page.getByRole('link', { name: 'Metrics' }).waitFor()
  t.deepEqual(faults, [])
})

test('the page of a job that reports nothing says so', async t => {
  const forge = await forgeWithSpare(t)
  const { page, faults, call } = await openSignedIn(t, forge)
  const { body: lock } = await call('GET', '/api/recipes/digits/1.0.0/lock')
  const metadata = { name: 'mute', project: 'demo' }
  const spec = { resources: { profile: 'spare' } }
  const { body } = await call<{ run_id: string }>('POST', '/api/jobs', {
    body: { api: 'forge/v2', metadata, lock, spec },
  })
  await until('it is projected', 20_000, async () => {
    const { rowCount } = await forge.pool.query(
      `update read.jobs set state = 'starting', phase = 'launching', executor_running_at = now() - interval '1 hour',
              updated_at = now() - interval '2 minutes' where run_id = $1`,
      [body.run_id],
    )
    return rowCount === 1
  })
  await page.goto(`${forge.url}/runs/${body.run_id}`)
  await page.getByText(/^Its program is running and has reported nothing/).waitFor()
  await keepViews(page, 'mute-job')
  t.deepEqual(faults, [])
})
