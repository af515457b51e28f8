import test from 'ava'
import type { Notification } from '../../schemas/notifications.ts'
import { commandLine } from '../servers/command-line.ts'
import { connect } from '../servers/events.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

const toldWithinMs = 30_000

const setQuota = (forge: Forge, username: string, max_concurrent_gpus: number) =>
  forge.call('POST', '/api/admin/quotas', { body: { username, max_concurrent_gpus } })

async function list(forge: Forge, token: string, query = ''): Promise<Notification[]> {
  return (await forge.call<Notification[]>('GET', `/api/notifications${query}`, { token })).body
}

const told = (forge: Forge, token: string, count: number) =>
  until(`${count} entries are there`, toldWithinMs, async () => {
    const entries = await list(forge, token)
    return entries.length === count ? entries : null
  })

const unread = async (forge: Forge, token: string) =>
  (await forge.call<{ unread_notifications: number }>('GET', '/api/auth/me', { token })).body
    .unread_notifications

test('changes by an admin notify the affected person, and are marked read as specified', async t => {
  const forge = await startForge(t)
  const alice = await signedIn(forge, 'alice')
  await setQuota(forge, 'alice', 16)
  const [entry] = await told(forge, alice, 1)
  t.like(entry, {
    kind: 'quota_changed',
    level: 'info',
    title: 'Your quota changed',
    target: { type: 'user', id: 'alice' },
    actor: 'admin',
    read_at: null,
    count: 1,
  })
  t.regex(String(entry?.notification_id), /^ntf_[0-9A-Z]{26}$/)
  t.is(await unread(forge, alice), 1)
  t.deepEqual(await list(forge, forge.token), [])

  const readOne = `/api/notifications/${entry?.notification_id}/read`
  const read = (token: string) => forge.call('POST', readOne, { token })
  t.is((await read(forge.token)).status, 404)
  t.deepEqual((await read(alice)).body, { ok: true, count: 1 })
  t.deepEqual((await read(alice)).body, { ok: true, count: 0 })
  t.is(await unread(forge, alice), 0)

  await setQuota(forge, 'alice', 32)
  await told(forge, alice, 2)
  t.is(await unread(forge, alice), 1)
  t.is((await list(forge, alice, '?unread=false'))[0]?.notification_id, entry?.notification_id)
  t.like((await list(forge, alice, '?unread=true'))[0], {
    body: 'Up to 32 GPUs and 4 jobs at once',
  })
  const readAll = () => forge.call('POST', '/api/notifications/read-all', { token: alice })
  t.deepEqual((await readAll()).body, { ok: true, count: 1 })
  t.deepEqual((await readAll()).body, { ok: true, count: 0 })
  t.deepEqual(await list(forge, alice, '?unread=true'), [])
})

test('repeats of an unread entry stay one entry with a count', async t => {
  const forge = await startForge(t)
  const alice = await signedIn(forge, 'alice')
  for (const gpus of [1, 2, 3]) await setQuota(forge, 'alice', gpus)
  const [entry] = await until('all three are counted', toldWithinMs, async () => {
    const entries = await list(forge, alice)
    return entries[0]?.count === 3 ? entries : null
  })
  t.is((await list(forge, alice)).length, 1)
  t.true([1, 2, 3].map(gpus => `Up to ${gpus} GPUs and 4 jobs at once`).includes(entry?.body ?? ''))
})

test('a person mutes a kind: nothing of it arrives, until it is unmuted', async t => {
  const forge = await startForge(t)
  const [alice, bob] = [await signedIn(forge, 'alice'), await signedIn(forge, 'bob')]
  const body = { what: 'kind:quota_changed' }
  const send = (route: string, token: string | null = alice, given: object = body) =>
    forge.call('POST', `/api/notifications/${route}`, { token, body: given })
  const mutes = async (token: string) =>
    (await forge.call<{ what: string }[]>('GET', '/api/notifications/mutes', { token })).body.map(
      ({ what }) => what,
    )
  for (const what of ['quota_changed', 'kind:', 'team:a', 'kind:a b'])
    t.is((await send('mute', alice, { what })).status, 422, what)
  t.deepEqual((await send('mute')).body, { ok: true, ...body })
  t.is((await send('mute')).status, 200)
  t.deepEqual(await mutes(alice), [body.what])
  t.deepEqual(await mutes(bob), [])
  await setQuota(forge, 'alice', 16)
  await setQuota(forge, 'bob', 16)
  await told(forge, bob, 1)
  t.is((await send('unmute')).status, 200)
  t.deepEqual(await mutes(alice), [])
  await setQuota(forge, 'alice', 32)
  const [entry] = await told(forge, alice, 1)
  t.like(entry, { count: 1, body: 'Up to 32 GPUs and 4 jobs at once' })
})

test('maintenance notifies everybody who may sign in', async t => {
  const forge = await startForge(t)
  const [alice, bob] = [await signedIn(forge, 'alice'), await signedIn(forge, 'bob')]
  const switchTo = (enabled: boolean) =>
    forge.call('PUT', '/api/admin/maintenance', { body: { enabled, message: 'new disks' } })
  await switchTo(true)
  await switchTo(false)
  for (const token of [alice, bob, forge.token]) {
    const [entry] = await told(forge, token, 1)
    t.like(entry, { kind: 'maintenance', level: 'warn', body: 'new disks', target: null })
  }
})

test('the topic streams each notification and resumes after the last id, together with other topics', async t => {
  const forge = await startForge(t)
  const alice = await signedIn(forge, 'alice')
  const url = `${forge.url}/api/stream?topics=notifications,jobs`
  const stream = await connect(url, alice)
  await setQuota(forge, 'alice', 16)
  const first = await stream.next()
  t.like(first, { event: 'alert', data: { kind: 'quota_changed', count: 1, read_at: null } })
  t.regex(String(first?.id), /^\d+-\d+$/)
  stream.cut()
  await forge.call('POST', '/api/notifications/read-all', { token: alice })
  const again = await connect(url, alice, first?.id)
  const read = await again.next()
  t.is(read?.data.notification_id, first?.data.notification_id)
  t.not(read?.data.read_at, null)
  again.cut()
})

test('forge notifications lists, follows and marks read', async t => {
  const forge = await startForge(t)
  const alice = await signedIn(forge, 'alice')
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: alice })
  t.regex((await run(['notifications'])).stderr, /No notifications/)
  const followed = run(['notifications', '--follow', '--json'], {
    inItsOwnProcess: true,
    onStdout: (_, kill) => kill('SIGINT'),
  })
  await setQuota(forge, 'alice', 16)
  const { stdout, code } = await followed
  t.is(code, 0)
  t.like(JSON.parse(stdout), { kind: 'quota_changed', read_at: null })
  const listed = await run(['notifications', '--unread', '--mark-read'])
  t.regex(listed.stdout, /new +Your quota changed +Up to 16 GPUs/)
  t.regex(listed.stderr, /Marked 1 read/)
  t.is((await run(['notifications', '--unread', '--json'])).stdout, '[]\n')

  t.regex((await run(['notifications', '--mute', 'kind:quota_changed'])).stderr, /Muted kind:quota/)
  t.regex((await run(['notifications', '--muted'])).stdout, /kind:quota_changed/)
  t.regex((await run(['notifications', '--unmute', 'kind:quota_changed'])).stderr, /Unmuted kind/)
  t.regex((await run(['notifications', '--muted'])).stderr, /Nothing is muted/)
})
