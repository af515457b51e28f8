import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { ask } from '../uploads/sending.ts'
import { type Pushed, push, textRows, untilValidated, uploadData } from './pushing.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

type Page = {
  rows: { row: number; file: string; data: object }[]
  next: number | null
  total: number
}

test('files become a version, which is validated and can be read by page, by search and as files', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const texts = Array.from({ length: 130 }, (_, nth) => `row ${nth}`)
  const files = {
    'train-1.jsonl': textRows(...texts.slice(0, 70)),
    'train-2.jsonl': textRows(...texts.slice(70)),
    'test/part.jsonl': textRows('held out', 'row 3'),
  }
  const { status, body } = await push(forge, 'admin/read', files, { license: 'mit', card: 'Rows' })
  t.is(status, 200, JSON.stringify(body))
  t.like(body, { ref: 'admin/read@1', version: 1, state: 'validating', created: true })
  t.like(await untilValidated(forge, 'admin/read'), {
    ...{ state: 'ready', format: 'jsonl', kind: 'text', rows: 132, license: 'mit' },
    splits: { train: { rows: 130 }, test: { rows: 2 } },
    overlap: [{ splits: ['test', 'train'], rows: 1 }],
    ...{ errors: [], created_by: 'admin', used_by_count: 0, visibility: 'private' },
  })
  const path = '/api/datasets/admin/read'
  t.like((await forge.call('GET', path)).body, {
    ...{ dataset: 'admin/read', card: 'Rows', may: 'write', versions: 1, grants: [] },
    newest: { ref: 'admin/read@1', state: 'ready' },
  })
  const rows = async (query: string) =>
    (await forge.call<Page>('GET', `${path}/versions/1/rows?${query}`)).body
  const page = await rows('split=train&from=60&limit=20')
  t.deepEqual(
    page.rows.map(({ row, data }) => [row, data]),
    texts.slice(60, 80).map((text, nth) => [60 + nth, { text }]),
    'a page reaches over two files',
  )
  t.like(page, { next: 80, total: 130 })
  t.like(await rows('split=train&from=120&limit=20'), { next: null })
  const found = await rows('split=train&q=ROW+12')
  t.deepEqual(
    found.rows.map(({ row }) => row),
    [12, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129],
  )
  t.is((await forge.call('GET', `${path}/versions/1/rows?split=none`)).status, 404)

  const file = `${path}/versions/1/files/test/part.jsonl`
  const whole = await forge.call<string>('GET', file)
  t.is(whole.body, files['test/part.jsonl'])
  const part = await forge.call<string>('GET', file, { headers: { range: 'bytes=2-5' } })
  t.is(part.status, 206)
  t.is(part.body, files['test/part.jsonl'].slice(2, 6))
  t.is((await forge.call('GET', `${path}/versions/1/files/none.jsonl`)).status, 404)
  const listed = await forge.call<{ dataset: string }[]>(
    'GET',
    '/api/datasets?q=MIN/rea&state=ready',
  )
  t.deepEqual(
    listed.body.map(({ dataset }) => dataset),
    ['admin/read'],
  )
})

test('the same files again are the same version; another number than the next is refused; a repeated request has one effect', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const data = { 'a.jsonl': textRows('one') }
  const first = await push(forge, 'admin/again', data)
  t.true(first.body.created)
  const second = await push(forge, 'admin/again', data)
  t.like(second.body, { created: false, version: 1, digest: first.body.digest })
  const taken = await push(forge, 'admin/again', { 'a.jsonl': textRows('two') }, { version: 1 })
  t.is(taken.status, 409)
  t.is(taken.body.code, 'dataset.version_exists')
  const gap = await push(forge, 'admin/again', { 'a.jsonl': textRows('two') }, { version: 7 })
  t.is(gap.status, 422)
  t.like(gap.body.detail, [{ loc: ['body', 'version'] }])

  const upload_id = await uploadData(forge, textRows('three'))
  const request = {
    body: { files: [{ upload_id, name: 'a.jsonl' }] },
    headers: { 'idempotency-key': 'a-key-of-this-test' },
  }
  const path = '/api/datasets/admin/again/versions'
  const made = await forge.call<Pushed>('POST', path, request)
  const repeated = await forge.call<Pushed>('POST', path, request)
  t.deepEqual(repeated.body, made.body)
  t.true(repeated.body.created, 'it is the first response')
  t.is(repeated.headers.get('idempotency-replayed'), 'true')
})

test('bad input is refused at its field', async t => {
  const forge = await shared()
  const alice = await signedIn(forge, 'alice-of-data')
  const own = await uploadData(forge, textRows('mine'))
  const send = (body: object, token = forge.token) =>
    forge.call<Pushed>('POST', '/api/datasets/admin/bad/versions', { body, token })
  const atField = async (body: object) => {
    const reply = await send(body)
    t.is(reply.status, 422, JSON.stringify(reply.body))
    const { detail } = reply.body
    return typeof detail === 'string' ? detail : detail[0]?.loc.join('.')
  }
  const file = { upload_id: own, name: 'a.jsonl' }
  t.is(await atField({ files: [{ ...file, upload_id: 'upl_none' }] }), 'body.files.0.upload_id')
  t.is(await atField({ files: [file, { ...file, name: 'A.jsonl' }] }), 'body.files.1.name')
  t.is(await atField({ files: [{ ...file, name: '../a' }] }), 'body.files.0.name')
  t.is(await atField({ files: [file], parents: ['admin/none@1'] }), 'body.parents.0')
  t.is(
    await atField({ files: [file], tokenizer: { name: 'q', upload_id: 'upl_none' } }),
    'body.tokenizer.upload_id',
  )
  const others = await uploadData(forge, textRows('hers'), alice)
  t.is(await atField({ files: [{ upload_id: others, name: 'a' }] }), 'body.files.0.upload_id')
  t.is((await send({ files: [{ upload_id: others, name: 'a' }] }, alice)).status, 403)
  const large = await ask(forge, Buffer.from(''), {
    ...{ purpose: 'dataset', size_bytes: 1e15, sha256: null },
  })
  t.is(large.status, 413)
})

test('an invalid version names its lines, its author is notified, and the next one is ready', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const bob = await signedIn(forge, 'bob-of-data')
  const asBob: typeof forge.call = (method, path, options = {}) =>
    forge.call(method, path, { token: bob, ...options })
  const dataset = 'bob-of-data/broken'
  const broken = `${textRows('good')}{"text": \n${textRows('fine')}`
  await push(forge, dataset, { 'train.jsonl': broken }, { token: bob })
  const found = await untilValidated(forge, dataset)
  t.is(found.state, 'invalid')
  t.like(found.errors, [{ file: 'train.jsonl', line: 2 }])
  const rows = await asBob('GET', `/api/datasets/${dataset}/versions/1/rows`)
  t.is(rows.status, 409)
  t.is(rows.body.code, 'dataset.not_ready')
  await push(forge, dataset, { 'train.jsonl': textRows('good', 'fine') }, { token: bob })
  t.is((await untilValidated(forge, dataset, 2)).state, 'ready')
  type Told = { kind: string; body: string; target: { id: string }; url: string }[]
  const told = await until('both results are announced', 30_000, async () => {
    const { body } = await asBob<Told>('GET', '/api/notifications')
    return body.length >= 2 && body
  })
  t.deepEqual(
    told.map(({ kind, target, url }) => [kind, target.id, url]),
    [
      ['dataset_ready', `${dataset}@2`, `/datasets/${dataset}?version=2`],
      ['dataset_invalid', `${dataset}@1`, `/datasets/${dataset}?version=1`],
    ],
  )
  t.regex(told[1]?.body ?? '', /1 error; the first in train.jsonl, line 2/)
})

test('settings, grants and deprecation are changed by the owner and admins alone', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const carol = await signedIn(forge, 'carol-of-data')
  await push(forge, 'admin/shared', { 'a.jsonl': textRows('x') })
  await untilValidated(forge, 'admin/shared')
  const path = '/api/datasets/admin/shared'
  const change = (token: string) =>
    forge.call('PATCH', path, { body: { license: 'apache-2.0' }, token })
  t.is((await change(carol)).status, 404)
  const grant = (body: object) => forge.call('PUT', `${path}/grants/carol-of-data`, { body })
  t.is((await grant({ see: false, use: true })).status, 422)
  t.like((await grant({ see: true, use: false })).body, { see: true, use: false, changed: true })
  t.is((await change(carol)).status, 403)
  t.like((await change(forge.token)).body, { license: 'apache-2.0', changed: true })
  const seen = await until('carol sees it', 30_000, async () => {
    const { status, body } = await forge.call<{ grants: object[] }>('GET', path, { token: carol })
    return status === 200 && body
  })
  t.like(seen, { may: 'see', grants: [{ username: 'carol-of-data', see: true, use: false }] })
  t.is(
    (await forge.call('PUT', `${path}/grants/nobody`, { body: { see: true, use: true } })).status,
    404,
  )
  const deprecate = (reason: string) =>
    forge.call('POST', `${path}/versions/1/deprecate`, { body: { reason } })
  t.like((await deprecate('old')).body, { state: 'deprecated', changed: true })
  t.like((await forge.call('GET', `${path}/versions/1`)).body, { deprecated_reason: 'old' })
  t.is((await forge.call('GET', `${path}/versions/1/rows`)).status, 200)
})

test('a version that another one was made from is deleted only by force, and its number stays taken', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  await push(forge, 'admin/base', { 'a.jsonl': textRows('x') })
  await untilValidated(forge, 'admin/base')
  await push(forge, 'admin/child', { 'a.jsonl': textRows('y') }, { parents: ['admin/base@1'] })
  const path = '/api/datasets/admin/base/versions/1'
  const foretold = await forge.call('DELETE', `${path}?dry_run=true`)
  t.like(foretold.body, { deleted: false, would_break: [{ type: 'dataset', id: 'admin/child@1' }] })
  const used = await forge.call<object[]>('GET', `${path}/used-by`)
  t.like(used.body, [{ type: 'dataset', id: 'admin/child@1', owner: 'admin' }])
  const refused = await forge.call('DELETE', path)
  t.is(refused.status, 409)
  t.is(refused.body.code, 'dataset.in_use')
  t.regex(String(refused.body.detail), /admin\/child@1/)
  t.is((await forge.call('DELETE', `${path}?force=true`)).status, 200)
  t.is((await forge.call('GET', path)).status, 404)
  t.is((await forge.call('DELETE', path)).status, 404)
  t.is((await push(forge, 'admin/base', { 'a.jsonl': textRows('x') })).body.version, 2)
})
