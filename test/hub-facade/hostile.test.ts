import { createHash } from 'node:crypto'
import test from 'ava'
import { push, textRows, untilValidated } from '../datasets/pushing.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

const theForge = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

type Body = {
  gated?: unknown
  objects?: { actions?: object }[]
  sha?: string
  siblings?: unknown[]
  tags?: unknown[]
}
type Answer = { status: number; headers: Headers; body: Body }

/** Calls the paths of the Hub as this person; a text is sent as lines of JSON. */
function hubOf(forge: Forge, token: string | null) {
  return async (method: string, path: string, body?: object | string): Promise<Answer> => {
    const isText = typeof body === 'string'
    const answer = await fetch(`${forge.url}/api/hub${path}`, {
      method,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && {
          'content-type': isText ? 'application/x-ndjson' : 'application/json',
        }),
      },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    const json = answer.headers.get('content-type')?.includes('json') === true && text !== ''
    return { status: answer.status, headers: answer.headers, body: json ? JSON.parse(text) : {} }
  }
}

const lines = (...all: object[]) => all.map(one => JSON.stringify(one)).join('\n')
const header = { key: 'header', value: { summary: 'a change' } }
const codeOf = ({ status, headers }: Answer) => [status, headers.get('x-error-code')]
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const secret = textRows('nobody else knows')

/** A private dataset of `ann`, granted to `eve` so that she sees it. */
async function scene(forge: Forge, name: string) {
  const [ann, eve] = [await signedIn(forge, `ann-${name}`), await signedIn(forge, `eve-${name}`)]
  const dataset = `ann-${name}/${name}`
  await push(forge, dataset, { 'train.jsonl': secret }, { token: ann })
  await untilValidated(forge, dataset)
  return { ann: hubOf(forge, ann), eve: hubOf(forge, eve), dataset, eveToken: eve, name }
}

test('knowing the digest of a file of others gives nobody its content', async t => {
  t.timeout(patient(120_000))
  const forge = await theForge()
  const { ann, eve, dataset, name } = await scene(forge, 'digest')
  const own = `eve-${name}/own`
  await eve('POST', '/api/repos/create', { name: 'own', type: 'dataset' })
  const object = { oid: sha256(secret), size: secret.length }
  const batch = { operation: 'upload', transfers: ['basic'], objects: [object] }
  const { body } = await eve('POST', `/datasets/${own}.git/info/lfs/objects/batch`, batch)
  t.truthy(body.objects?.[0]?.actions, 'she is asked to send it')
  const claim = lines(header, { key: 'lfsFile', value: { ...object, path: 'train.jsonl' } })
  t.is((await eve('POST', `/api/datasets/${own}/commit/main`, claim)).status, 409)
  const verify = await eve('POST', `/datasets/${own}.git/info/lfs/objects/verify`, object)
  t.is(verify.status, 409, 'nothing has arrived')
  const unsized = lines(header, { key: 'lfsFile', value: { oid: object.oid, path: 'a.jsonl' } })
  t.is((await eve('POST', `/api/datasets/${own}/commit/main`, unsized)).status, 400)
  const there = await ann('POST', `/datasets/${dataset}.git/info/lfs/objects/batch`, batch)
  t.deepEqual(there.body.objects, [object], 'the dataset has it already')
  t.deepEqual((await eve('GET', `/api/datasets/${own}`)).body.siblings, [])
})

test('others learn nothing of a hidden dataset, and no digest of one that they only see', async t => {
  t.timeout(patient(120_000))
  const forge = await theForge()
  const { eve, dataset, name } = await scene(forge, 'hidden')
  const missing = `ann-${name}/none`
  const shown = ({ status, headers, body }: Answer, of: string) => [
    status,
    [...headers]
      .filter(([key]) => !['date', 'x-request-id', 'content-length'].includes(key))
      .map(pair => pair.join(' ').replaceAll(of, '…')),
    JSON.stringify({ ...body, request_id: '' }).replaceAll(of, '…'),
  ]
  const same = async (method: string, path: (of: string) => string, body?: object | string) => {
    const [hidden, none] = [
      await eve(method, path(dataset), body),
      await eve(method, path(missing), body),
    ]
    t.deepEqual(codeOf(hidden), [404, 'RepoNotFound'], path(dataset))
    t.deepEqual(shown(hidden, dataset), shown(none, missing), path(dataset))
  }
  for (const method of ['GET', 'HEAD']) {
    await same(method, of => `/api/datasets/${of}`)
    await same(method, of => `/api/datasets/${of}/tree/main`)
    await same(method, of => `/datasets/${of}/resolve/main/train.jsonl`)
    await same(method, of => `/datasets/${of}/resolve/nowhere/train.jsonl`)
  }
  await same('POST', of => `/api/datasets/${of}/preupload/main`, { files: [] })
  await same('POST', of => `/api/datasets/${of}/commit/main`, lines(header))
  await same('POST', of => `/datasets/${of}.git/info/lfs/objects/batch`, {
    ...{ operation: 'upload', objects: [] },
  })
  await forge.call('PUT', `/api/datasets/${dataset}/grants/eve-${name}`, {
    body: { see: true, use: false },
  })
  const info = await until('she sees it', 30_000, async () => {
    const answer = await eve('GET', `/api/datasets/${dataset}`)
    return answer.status === 200 && answer
  })
  t.is(info.body.gated, 'manual')
  for (const path of ['train.jsonl', 'none.jsonl']) {
    const gated = await eve('HEAD', `/datasets/${dataset}/resolve/main/${path}`)
    t.deepEqual(codeOf(gated), [403, 'GatedRepo'])
    for (const name of ['etag', 'x-linked-etag', 'x-linked-size', 'x-repo-commit'])
      t.is(gated.headers.get(name), null, name)
  }
  t.is((await hubOf(forge, null)('GET', `/api/datasets/${dataset}`)).status, 401)
})

test('names of files and revisions lead nowhere else', async t => {
  t.timeout(patient(120_000))
  const forge = await theForge()
  const { ann, dataset } = await scene(forge, 'names')
  const at = (path: string) => ann('GET', `/datasets/${dataset}/resolve/main/${path}`)
  for (const path of [
    ...['..%2f..%2fetc%2fpasswd', '%2e%2e/%2e%2e/x', 'a%2f..%2ftrain.jsonl', 'train.jsonl%00'],
    ...['%2ftrain.jsonl', 'train.jsonl/', 'TRAIN.jsonl', '%ff'],
  ]) {
    const { status } = await at(path)
    t.true([400, 404].includes(status), `${path}: ${status}`)
  }
  t.deepEqual(codeOf(await at('none.jsonl')), [404, 'EntryNotFound'])
  for (const revision of [
    ...['v2', '0', 'v0', '-1', '1e0', "1' or '1'='1", '..%2f..', 'refs%2fpr%2f1', 'f'.repeat(40)],
    `${'0'.repeat(32)}00000001`,
  ]) {
    const answer = await ann('GET', `/api/datasets/${dataset}/revision/${revision}`)
    t.deepEqual(codeOf(answer), [404, 'RevisionNotFound'], revision)
  }
  const { body } = await ann('GET', `/api/datasets/${dataset}/revision/refs%2ftags%2fv1`)
  const commit = await ann('GET', `/api/datasets/${dataset}/revision/${body.sha}`)
  t.is(commit.body.sha, body.sha)
  const add = (path: string) =>
    ann(
      'POST',
      `/api/datasets/${dataset}/commit/main`,
      lines(header, { key: 'file', value: { path, content: btoa(secret), encoding: 'base64' } }),
    )
  for (const path of ['../out.jsonl', '/etc/x.jsonl', 'a//b.jsonl', 'a/../b.jsonl', 'é.jsonl'])
    t.is((await add(path)).status, 400, path)
  t.is((await add('TRAIN.jsonl')).status, 400, 'the same name where case is ignored')
  t.is((await add('train.jsonl/b.jsonl')).status, 400, 'a file cannot be a folder')
})

test('a commit is bounded, complete or without effect', async t => {
  t.timeout(patient(120_000))
  const forge = await theForge()
  const { ann, dataset } = await scene(forge, 'bounds')
  const send = (body: string) => ann('POST', `/api/datasets/${dataset}/commit/main`, body)
  t.is((await send(`${lines(header)}\n${'{}\n'.repeat(1_000_000)}`)).status, 413)
  t.is((await send('x'.repeat(17 * 1024 * 1024))).status, 413)
  t.is((await send('[')).status, 400)
  t.is((await send(lines(header, header))).status, 400)
  t.is((await send('')).status, 400)
  t.is((await send(lines(header, { key: 'symlink', value: { path: 'a' } }))).status, 400)
  const file = (path: string, content: string) => ({
    ...{ key: 'file', value: { path, content: btoa(content), encoding: 'base64' } },
  })
  const bad = { key: 'deletedFile', value: { path: 'none.jsonl' } }
  t.deepEqual(codeOf(await send(lines(header, file('b.jsonl', secret), bad))), [
    404,
    'EntryNotFound',
  ])
  t.deepEqual((await ann('GET', `/api/datasets/${dataset}/refs`)).body.tags?.length, 1)
  const all = { key: 'deletedFile', value: { path: 'train.jsonl' } }
  t.is((await send(lines(header, all))).status, 400, 'a version has at least one file')
  const { body } = await ann('GET', `/api/datasets/${dataset}`)
  const parent = { key: 'header', value: { summary: 'x', parentCommit: body.sha } }
  const together = await Promise.all(
    ['c', 'd', 'e', 'f'].map(name => send(lines(parent, file(`${name}.jsonl`, textRows(name))))),
  )
  t.deepEqual(together.map(({ status }) => status).sort(), [200, 412, 412, 412])
  const free = await Promise.all(
    ['g', 'h', 'i'].map(name => send(lines(header, file(`${name}.jsonl`, textRows(name))))),
  )
  t.deepEqual(
    free.map(({ status }) => status),
    [200, 200, 200],
  )
  const names = await until('all are there', 30_000, async () => {
    const tree = await ann('GET', `/api/datasets/${dataset}/tree/v5`)
    return tree.status === 200 && (tree.body as unknown as { path: string }[]).map(one => one.path)
  })
  t.is(names.length, 5, 'no commit lost the files of another')
  t.is((await ann('POST', `/api/datasets/${dataset}/commit/dev`, lines(header))).status, 404)
})
