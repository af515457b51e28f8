import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import type { VolumeRow } from '../../schemas/volumes.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

type Refused = { detail: string | { loc: (string | number)[] }[]; code: string; data: object }
type Reply = VolumeRow & Refused & { changed: boolean }

const create = (forge: Forge, body: object, token?: string, headers?: Record<string, string>) =>
  forge.call<Reply>('POST', '/api/volumes', {
    body,
    ...(headers && { headers }),
    ...(token !== undefined && { token }),
  })

/** The folder of a volume, which the first run that uses it would make. */
async function folderOf({ pool, dataDir }: Forge, volume_id: string): Promise<string> {
  const { rows } = await pool.query<{ directory: string }>(
    'select directory from write.volume where volume_id = $1',
    [volume_id],
  )
  const folder = join(dataDir, 'volumes', rows[0]?.directory ?? '')
  await mkdir(folder, { recursive: true })
  return folder
}

test('a person creates, lists, changes, lets grow and deletes volumes', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const made = await create(forge, { name: 'cache', size_gb: 2, auto_cleanup_s: 7200 })
  t.is(made.status, 200, JSON.stringify(made.body))
  const { volume_id } = made.body
  const path = `/api/volumes/${volume_id}`
  const { body: row } = await forge.call<VolumeRow>('GET', path)
  t.like(row, {
    ...{ volume_id, name: 'cache', owner: 'admin', state: 'active', size_gb: 2, backend: 'local' },
    ...{ used_bytes: null, attached_to: [], read_only: false, auto_cleanup_s: 7200, snapshots: [] },
  })
  t.is(Date.parse(row.cleanup_at ?? '') - Date.parse(row.last_used_at), 7_200_000)
  t.like((await create(forge, { name: 'cache', size_gb: 1 })).body, { code: 'volume.exists' })

  const grow = (size_gb: number) => forge.call<Reply>('POST', `${path}/grow`, { body: { size_gb } })
  t.like((await grow(3)).body, { size_gb: 3, changed: true })
  t.like((await grow(3)).body, { size_gb: 3, changed: false })
  const shrunk = await grow(1)
  t.is(shrunk.status, 422)
  t.like(shrunk.body, { detail: [{ loc: ['body', 'size_gb'] }] })
  const patch = { read_only: true, auto_cleanup_s: null }
  t.like((await forge.call<Reply>('PATCH', path, { body: patch })).body, {
    ...patch,
    changed: true,
  })

  const listed = await forge.call<VolumeRow[]>('GET', '/api/volumes?name=cache')
  t.deepEqual(
    listed.body.map(({ name, size_gb, read_only, cleanup_at }) => [
      name,
      size_gb,
      read_only,
      cleanup_at,
    ]),
    [['cache', 3, true, null]],
  )
  t.like((await forge.call('DELETE', `${path}?dry_run=true`)).body, { deleted: false })
  t.is((await forge.call('DELETE', path)).status, 200)
  t.is((await forge.call('GET', path)).status, 404)
  t.is((await create(forge, { name: 'cache', size_gb: 1 })).body.volume_id, volume_id)
})

test('a repeated key creates once, bad input is refused at its field, and other backends in words', async t => {
  const forge = await shared()
  const key = { 'Idempotency-Key': 'once' }
  const first = await create(forge, { name: 'keyed', size_gb: 1 }, undefined, key)
  const again = await create(forge, { name: 'keyed', size_gb: 1 }, undefined, key)
  t.deepEqual([first.status, again.status], [200, 200])
  t.deepEqual(again.body, first.body)
  const faults: [object, string][] = [
    [{ name: '../x', size_gb: 1 }, 'name'],
    [{ name: 'x', size_gb: 0 }, 'size_gb'],
    [{ name: 'x', size_gb: 1.5 }, 'size_gb'],
    [{ name: 'x', size_gb: 1, auto_cleanup_s: 5 }, 'auto_cleanup_s'],
    [{ name: 'x', size_gb: 1, backend: 'tape' }, 'backend'],
    [{ name: 'x', size_gb: 1, shared: true }, 'shared'],
  ]
  for (const [body, field] of faults) {
    const refused = await create(forge, body)
    t.is(refused.status, 422, field)
    t.like(refused.body, { detail: [{ loc: ['body', field] }] })
  }
  for (const backend of ['kubernetes', 'slurm']) {
    const refused = await create(forge, { name: 'x', size_gb: 1, backend })
    t.is(refused.status, 501)
    t.like(refused.body, { code: 'volume.backend' })
  }
})

test('a volume is hidden from everybody but its owner and admins', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const [owner, stranger] = [await signedIn(forge, 'vol-owner'), await signedIn(forge, 'vol-other')]
  const { volume_id } = (await create(forge, { name: 'mine', size_gb: 1 }, owner)).body
  const path = `/api/volumes/${volume_id}`
  const asked: [string, string, object?][] = [
    ['GET', path],
    ['GET', `${path}/files`],
    ['GET', `${path}/content?path=a`],
    ['POST', `${path}/grow`, { size_gb: 9 }],
    ['PATCH', path, { read_only: true }],
    ['POST', `${path}/snapshots`, { dataset: 'vol-other/data' }],
    ['DELETE', path],
    ['DELETE', `${path}?dry_run=true`],
  ]
  for (const [method, at, body] of asked) {
    const refused = await forge.call<Refused>(method, at, { token: stranger, body })
    t.is(refused.status, 404, `${method} ${at}`)
    t.is(refused.body.detail as string, `No such volume: ${volume_id}`)
  }
  const list = async (token: string) =>
    (await forge.call<VolumeRow[]>('GET', '/api/volumes?owner=vol-owner', { token })).body.length
  t.deepEqual([await list(owner), await list(stranger), await list(forge.token)], [1, 0, 1])
  t.is((await create(forge, { name: 'mine', size_gb: 1 }, stranger)).status, 200, 'their own name')
  const others = { dataset: 'vol-other/data' }
  const snapshot = await forge.call('POST', `${path}/snapshots`, { token: owner, body: others })
  t.is(snapshot.status, 403)
})

test('files are listed by page and sent, and no path or link leads out of the volume', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { volume_id } = (await create(forge, { name: 'browsed', size_gb: 1 })).body
  const path = `/api/volumes/${volume_id}`
  type Files = {
    entries: { name: string; kind: string; size_bytes: number }[]
    next: string | null
  }
  const files = (query: string) => forge.call<Files & Refused>('GET', `${path}/files?${query}`)
  t.deepEqual((await files('')).body.entries, [], 'before its first use')
  const folder = await folderOf(forge, volume_id)
  const outside = join(forge.dataDir, 'secret')
  await writeFile(outside, 'the secret')
  await mkdir(join(folder, 'many'))
  for (let nth = 0; nth < 25; nth++)
    await writeFile(join(folder, 'many', `f${String(nth).padStart(2, '0')}`), 'x'.repeat(nth))
  await symlink(outside, join(folder, 'link'))
  await symlink(forge.dataDir, join(folder, 'up'))
  await symlink('many', join(folder, 'within'))

  t.deepEqual(
    (await files('')).body.entries.map(({ name, kind }) => [name, kind]),
    [
      ['link', 'link'],
      ['many', 'folder'],
      ['up', 'link'],
      ['within', 'link'],
    ],
  )
  const first = (await files('path=many&limit=10')).body
  const second = (await files(`path=/many/.&limit=20&after=${first.next}`)).body
  t.is(first.next, 'f09')
  t.is(second.next, null)
  t.deepEqual(
    [...first.entries, ...second.entries].map(({ size_bytes }) => size_bytes),
    Array.from({ length: 25 }, (_, nth) => nth),
  )
  const content = (inside: string) =>
    fetch(`${forge.url}${path}/content?path=${encodeURIComponent(inside)}`, {
      headers: { authorization: `Bearer ${forge.token}` },
    })
  t.is(await (await content('many/f03')).text(), 'xxx')
  t.is(await (await content('within/f03')).text(), 'xxx', 'a folder link that stays inside')
  t.is((await content('many/f00')).status, 200)
  for (const inside of [
    ...['../secret', 'many/../../../secret', 'link', 'up/secret', '/etc/passwd', 'many', 'none'],
    ...['up/keys', 'many/f03/x', 'a'.repeat(300)],
  ]) {
    const sent = await content(inside)
    t.is(sent.status, 404, inside)
    t.false((await sent.text()).includes('the secret'))
  }
  for (const inside of ['..', 'up', 'link', 'many/../..'])
    t.is((await files(`path=${inside}`)).status, 404, inside)
})

test('volumes count against the storage quota by their size, when they are created and when they grow', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const owner = await signedIn(forge, 'vol-quota')
  const quota = { username: 'vol-quota', max_storage_gb: 5 }
  await forge.call('POST', '/api/admin/quotas', { body: quota })
  const { volume_id } = (await create(forge, { name: 'a', size_gb: 3 }, owner)).body
  const refused = await create(forge, { name: 'b', size_gb: 3 }, owner)
  t.is(refused.status, 400)
  t.like(refused.body, {
    ...{ code: 'quota.storage' },
    detail: '3 GB more would exceed the storage quota of vol-quota: 3 GB of 5 GB are used',
    data: { limit_bytes: 5e9, used_bytes: 3e9, requested_bytes: 3e9 },
  })
  const grow = (size_gb: number) =>
    forge.call<Reply>('POST', `/api/volumes/${volume_id}/grow`, { token: owner, body: { size_gb } })
  t.like((await grow(6)).body, { code: 'quota.storage', data: { requested_bytes: 3e9 } })
  t.is((await grow(5)).status, 200)
  const upload = { purpose: 'dataset', filename: 'a.jsonl', size_bytes: 1 }
  const asked = { ...upload, content_type: 'application/jsonl' }
  const full = await forge.call<Refused>('POST', '/api/uploads', { token: owner, body: asked })
  t.is(full.status, 400, 'datasets and volumes share it')
  t.like(full.body, { code: 'quota.storage', data: { used_bytes: 5e9 } })
  t.is((await forge.call('DELETE', `/api/volumes/${volume_id}`, { token: owner })).status, 200)
  t.is((await create(forge, { name: 'b', size_gb: 5 }, owner)).status, 200)
})
