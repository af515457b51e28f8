import { createHash, randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { commit, createRepo, downloadFile, listFiles, uploadFiles } from '@huggingface/hub'
import test, { type ExecutionContext } from 'ava'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { emptyFolder, script } from './python.ts'

const roles = 'command-api,relay,projector,query-api'
const [theFirst, theSecond] = [
  sharedForge({ SERVICE_ROLES: roles }),
  sharedForge({ SERVICE_ROLES: roles }),
]

const contents: Record<string, Buffer> = {
  'README.md': Buffer.from('---\nlicense: apache-2.0\n---\n# A tutor\n'),
  'config.json': Buffer.from('{"model_type":"llama"}'),
  'empty.txt': Buffer.alloc(0),
  // More than a commit carries itself.
  'model.safetensors': randomBytes(700_000),
  'tokenizer/vocab.json': Buffer.from('{"a":1}'),
}
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const digests = Object.fromEntries(
  Object.entries(contents).map(([path, bytes]) => [path, sha256(bytes)]),
)
const { 'tokenizer/vocab.json': _, ...withoutTokenizer } = digests

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await emptyFolder(t)
  for (const [path, bytes] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), bytes)
  }
  return folder
}

type Uploaded = {
  repo: [string, boolean]
  commits: [string, string, string]
  stale: unknown
  tree: string[]
  files: [Record<string, string>, Record<string, string>]
}
type Version = {
  source: { artifact_id: string; run_id: string }
  state: string
  license: string | null
  stage_notes: string
}

const versionOf = (forge: Forge, model: string, version: number, token: string) =>
  until(`${model}@${version} is ready`, 60_000, async () => {
    const path = `/api/models/${model}/versions/${version}`
    const { status, body } = await forge.call<Version>('GET', path, { token })
    return status === 200 && body.state === 'ready' && body
  })

test('a person uploads a folder as versions of a model with the client of the Hub', async t => {
  t.timeout(patient(400_000), 'the client is installed first')
  const forge = await theFirst()
  const token = await signedIn(forge, 'ada')
  const hub = { HF_ENDPOINT: `${forge.url}/api/hub`, HF_TOKEN: token, REPO: 'ada/tutor' }
  const call = ['model_uploads.py', await folderOf(t), await emptyFolder(t)]
  const { commits, ...found } = await script<Uploaded>(t, call, hub)
  t.deepEqual(found, {
    repo: ['ada/tutor', true],
    stale: ['HfHubHTTPError', 412],
    tree: ['README.md', 'config.json', 'empty.txt', 'model.safetensors', 'tokenizer'],
    files: [digests, withoutTokenizer],
  })
  t.regex(commits[0], /^[0-9a-f]{32}00000001$/)
  t.is(commits[1], commits[0], 'the same files make no other version')
  t.regex(commits[2], /^[0-9a-f]{32}00000002$/)
  const version = await versionOf(forge, 'tutor', 1, token)
  t.like(version, { license: 'apache-2.0', stage_notes: 'The weights' })
  const { run_id, artifact_id } = version.source
  const { body: run } = await forge.call('GET', `/api/runs/${run_id}`, { token })
  t.like(run, { project: 'ada', state: 'succeeded', name: 'Upload of ada/tutor' })
  const { body: artifact } = await forge.call<{ path: string }>(
    ...(['GET', `/api/artifacts/${artifact_id}`, { token }] as const),
  )
  t.like(artifact, { kind: 'hf_export', format: 'safetensors', status: 'verified' })
  t.true(artifact.path.endsWith('/tutor.folder.tar.gz'))
})

test('code of a run makes its own artifact a version of the model', async t => {
  t.timeout(patient(400_000), 'the client is installed first')
  const forge = await theFirst()
  const { run_id, token: ingest } = await createRun(forge, 'of-uploads')
  const hub = {
    HF_ENDPOINT: `${forge.url}/api/ingest/hub`,
    HF_TOKEN: ingest,
    REPO: 'admin/trained',
  }
  const call = ['model_uploads.py', await folderOf(t), await emptyFolder(t)]
  const { files } = await script<Uploaded>(t, call, hub)
  t.deepEqual(files, [digests, withoutTokenizer])
  const { source } = await versionOf(forge, 'trained', 1, forge.token)
  t.is(source.run_id, run_id)
  const other = await createRun(forge, 'of-others')
  const foreign = await fetch(`${forge.url}/api/ingest/hub/api/models/admin/trained/commit/main`, {
    method: 'POST',
    headers: { authorization: `Bearer ${other.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ header: { summary: '' }, operations: [] }),
  })
  t.is(foreign.status, 403, 'a version comes from the project of its model')
})

test('the npm client of the Hub pushes a model from one Forge to a second', async t => {
  t.timeout(patient(120_000))
  const [first, second] = [await theFirst(), await theSecond()]
  // The client demands tokens that begin as those of the Hub do.
  const at = ({ url, token }: { url: string; token: string }) => ({
    ...{ repo: 'admin/carried', hubUrl: `${url}/api/hub`, accessToken: `hf_${token}` },
  })
  // It does not download empty files.
  const filled = Object.entries(contents).filter(([, bytes]) => bytes.length > 0)
  const files = filled.map(([path, bytes]) => ({
    ...{ path, content: new Blob([new Uint8Array(bytes)]) },
  }))
  await createRepo(at(first))
  const made = await uploadFiles({ ...at(first), files, commitTitle: 'made here' })
  await versionOf(first, 'carried', 1, first.token)
  const carried: { path: string; content: Blob }[] = []
  for await (const { type, path } of listFiles({ ...at(first), recursive: true })) {
    if (type !== 'file') continue
    const content = await downloadFile({ ...at(first), path })
    carried.push({ path, content: new Blob([(await content?.arrayBuffer()) ?? '']) })
  }
  t.deepEqual(
    carried.map(({ path }) => path),
    filled.map(([path]) => path).sort(),
  )
  t.like(await createRepo(at(second)), { id: 'admin/carried' })
  const there = await uploadFiles({ ...at(second), files: carried, commitTitle: 'from the first' })
  t.is(there?.commit.oid, made?.commit.oid, 'the same files have the same digest')
  await versionOf(second, 'carried', 1, second.token)
  const changed = await commit({
    ...at(second),
    title: 'leave one out',
    operations: [{ operation: 'delete', path: 'tokenizer/vocab.json' }],
  })
  t.regex(changed?.commit.oid ?? '', /00000002$/)
})

test('others neither read nor write a model, and faulty commits are refused', async t => {
  t.timeout(patient(120_000))
  const forge = await theFirst()
  const [bob, eve] = [await signedIn(forge, 'bob'), await signedIn(forge, 'eve')]
  const call = async (token: string, method: string, path: string, body?: object) => {
    const { status } = await forge.call(method, `/api/hub${path}`, { token, ...(body && { body }) })
    return status
  }
  const file = (path: string, content = 'YQ==') => ({ key: 'file', value: { path, content } })
  const commitOf = (...operations: object[]) => ({ header: { summary: '' }, operations })
  t.is(await call(bob, 'POST', '/api/repos/create', { name: 'own' }), 200)
  t.is(await call(bob, 'POST', '/api/repos/create', { name: 'own' }), 409)
  t.is(await call(eve, 'POST', '/api/repos/create', { name: 'x', organization: 'bob' }), 403)
  t.is(await call(eve, 'POST', '/api/repos/create', { name: 'Not/this' }), 400)
  const own = '/api/models/bob/own'
  t.is(await call(bob, 'POST', `${own}/commit/main`, commitOf(file('a/b.json'))), 200)
  for (const repo of [own, '/api/models/eve/own', '/api/models/bob/none'])
    for (const path of ['', '/refs', '/revision/v1', '/tree/main'])
      t.is(await call(eve, 'GET', `${repo}${path}`), 404, repo + path)
  for (const repo of [own, '/api/models/eve/own']) {
    t.is(await call(eve, 'POST', `${repo}/commit/main`, commitOf(file('a'))), 404)
    t.is(await call(eve, 'POST', `${repo}/preupload/main`, { files: [] }), 404)
  }
  t.is(await call(eve, 'GET', '/bob/own/resolve/v1/a/b.json'), 404)
  t.is(await call(eve, 'POST', '/bob/own.git/info/lfs/objects/batch', lfs(contents)), 404)
  const refused = [file('../up'), file('/a'), file('a//b'), file('a'), file('a/b.json/c')]
  for (const operation of refused)
    t.is(await call(bob, 'POST', `${own}/commit/main`, commitOf(operation)), 400)
  const claim = { path: 'w', oid: digests['model.safetensors'], size: 700_000 }
  t.is(
    await call(bob, 'POST', `${own}/commit/main`, commitOf({ key: 'lfsFile', value: claim })),
    400,
  )
  const gone = commitOf({ key: 'deletedFile', value: { path: 'a/b.json' } })
  t.is(await call(bob, 'POST', `${own}/commit/main`, gone), 400, 'a version has at least one file')
  t.is(await call(bob, 'GET', '/bob/own/resolve/v2/a/b.json'), 404, 'nothing was made')
})

const lfs = (files: Record<string, Buffer>) => ({
  operation: 'upload',
  objects: Object.values(files).map(bytes => ({ oid: sha256(bytes), size: bytes.length })),
})
