import test from 'ava'
import { groupsOf } from '../../clients/console/src/pages/notifications/groups.ts'
import { isMuted, mutableOf } from '../../schemas/mutes.ts'
import type { Notification } from '../../schemas/notifications.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { axeFinds, keepViews, openSignedIn } from './browse.ts'

const setQuota = (forge: Forge, token: string, max_concurrent_gpus: number) =>
  forge.call('POST', '/api/admin/quotas', {
    token,
    body: { username: 'admin', max_concurrent_gpus },
  })

test('every page counts unread notifications live; the feed shows and reads them', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const admin = await signedIn(forge, 'another-admin', 'admin')
  const { page, faults, another } = await openSignedIn(t, forge)
  await page.goto(`${forge.url}/runs/${run.run_id}`)
  const bell = page.getByRole('banner').getByRole('button', { name: 'Notifications' })
  await bell.waitFor()
  t.is(await bell.getByText('unread').count(), 0)
  await setQuota(forge, admin, 4)
  await bell.getByText('1 unread').waitFor()
  await setQuota(forge, admin, 6)
  await bell.click()
  const drawer = page.getByRole('dialog', { name: 'Notifications' })
  await drawer.getByText('Your quota changed ×2').waitFor()
  t.deepEqual(await axeFinds(page), [])
  await keepViews(page, 'notifications-drawer')
  // Muting hides a kind, in the drawer and on the page, until it is undone.
  await drawer.getByRole('button', { name: 'Mute: Your quota changed' }).click()
  await page.getByRole('menuitem', { name: 'Mute “quota”' }).click()
  await drawer.getByText('Nothing has happened yet.').waitFor()
  await drawer.getByText('1 muted').waitFor()
  // It holds for the person, not for the browser: nothing is counted, and another page hides it as well.
  const other = await another()
  await other.goto(`${forge.url}/notifications`)
  await other.getByText('1 muted').waitFor()
  t.is(await other.getByRole('main').getByRole('listitem').count(), 0)
  await other.close()
  await drawer.getByText('1 muted').click()
  await drawer.getByRole('button', { name: 'Unmute quota' }).click()
  await drawer.getByText('Your quota changed ×2').waitFor()
  await drawer.getByRole('link', { name: 'All notifications' }).click()
  await drawer.waitFor({ state: 'detached' })
  const entry = page.getByRole('main').getByRole('listitem')
  await entry.getByText('Your quota changed ×2').waitFor()
  await entry.getByText('Up to 6 GPUs and 4 jobs at once').waitFor()
  await keepViews(page, 'notifications')
  await page.getByRole('button', { name: 'Mark all read' }).click()
  await bell.getByText('unread').waitFor({ state: 'detached' })
  await page.getByLabel('Unread only').click()
  await page.getByText('Everything is read.').waitFor()
  t.deepEqual(faults, [])
})

const about = (kind: Notification['kind'], id: string, more: Partial<Notification> = {}) =>
  ({
    ...{ notification_id: `${kind} ${id}`, kind, level: 'error', title: `vision-7 ${kind}` },
    ...{ body: '', target: { type: 'run', id }, url: null, actor: 'forge', group_key: kind },
    ...{ created_at: '2026-11-27T00:00:00Z', read_at: null, count: 1 },
    ...more,
  }) satisfies Notification

test('entries are grouped by kind and run, and a diagnosis joins the failure that it explains', t => {
  const [diagnosis, failure] = [about('diagnosis_ready', 'run_1'), about('job_failed', 'run_1')]
  const alerts = [about('metric_alert', 'run_2', { count: 3 }), about('metric_alert', 'run_2')]
  const alone = about('diagnosis_ready', 'run_3', { read_at: '2026-11-27T00:00:00Z' })
  const groups = groupsOf([diagnosis, ...alerts, failure, alone])
  t.deepEqual(
    groups.map(one => [one.newest.kind, one.newest.target?.id, one.count, one.isUnread]),
    [
      ['job_failed', 'run_1', 1, true],
      ['metric_alert', 'run_2', 4, true],
      ['diagnosis_ready', 'run_3', 1, false],
    ],
  )
  t.is(groups[0]?.diagnosis, diagnosis)
  t.is(groups[2]?.diagnosis, null)
})

test('a kind, a run or a project is muted', t => {
  const failure = about('job_failed', 'run_1')
  const { kind, run, project } = mutableOf(failure)
  t.deepEqual([kind, run, project], ['kind:job_failed', 'run:run_1', 'project:vision'])
  for (const one of [kind, run, project]) t.true(isMuted(failure, [String(one)]))
  t.false(isMuted(failure, ['kind:metric_alert', 'run:run_2', 'project:rlhf']))
  const ofPerson = about('quota_changed', 'ada', { target: { type: 'user', id: 'ada' } })
  t.deepEqual(mutableOf(ofPerson), { kind: 'kind:quota_changed' })
})
