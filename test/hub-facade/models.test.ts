import { createHash } from 'node:crypto'
import test from 'ava'
import { storing } from '../artifacts/storing.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { emptyFolder, script } from './python.ts'

const theForge = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

const bytes = Buffer.from('weights of a test')
const digest = createHash('sha256').update(bytes).digest('hex')

/** A model with a ready version, which an alias names, and one whose artifact is elsewhere. */
async function modelIn(forge: Forge, name: string) {
  const run = await createRun(forge, `of-${name}`)
  const files = storing(forge, run)
  const first = await files.store(bytes, 'model.safetensors', 1, {})
  const { body: second } = await files.register({ path: `s3://bucket/${name}`, step: 2 })
  const body = { name, project: `of-${name}` }
  await forge.call('POST', '/api/models', { body })
  for (const { artifact_id } of [first, second])
    await forge.call('POST', `/api/models/${name}/versions`, { body: { artifact_id } })
  await forge.call('PUT', `/api/models/${name}/aliases/stable`, { body: { version: 1 } })
  return (path: string, headers: Record<string, string> = {}, token = forge.token) =>
    fetch(`${forge.url}/api/hub${path}`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    })
}

test('a model is a repository with the file of each version', async t => {
  t.timeout(patient(400_000), 'the client is installed first')
  const forge = await theForge()
  const ask = await modelIn(forge, 'tutor')
  const info = await (await ask('/api/models/tutor')).json()
  const sha = `${digest.slice(0, 32)}00000001`
  t.like(info, { id: 'tutor', sha, private: true, siblings: [{ rfilename: 'model.safetensors' }] })
  const refs = await (await ask('/api/models/tutor/refs')).json()
  t.deepEqual(
    refs.tags.map(({ name }: { name: string }) => name),
    ['v2', 'v1', 'stable'],
  )
  t.deepEqual((await (await ask('/api/models/tutor/revision/v2')).json()).siblings, [])
  for (const REVISION of ['main', 'v1', 'stable', sha]) {
    const env = { HF_ENDPOINT: `${forge.url}/api/hub`, HF_TOKEN: forge.token }
    const wanted = { REPO: 'tutor', TYPE: 'model', REVISION }
    const call = ['snapshot.py', await emptyFolder(t)]
    const found = await script(t, call, { ...env, ...wanted })
    t.deepEqual(found, { 'model.safetensors': digest }, REVISION)
  }
})

test('ranges and headers of files are those of the Hub', async t => {
  t.timeout(patient(60_000))
  const forge = await theForge()
  const ask = await modelIn(forge, 'coach')
  const at = '/coach/resolve/v1/model.safetensors'
  const part = await ask(at, { range: 'bytes=8-' })
  t.is(part.status, 206)
  t.is(await part.text(), bytes.subarray(8).toString())
  t.like(Object.fromEntries(part.headers), {
    'content-range': `bytes 8-${bytes.length - 1}/${bytes.length}`,
    ...{ etag: `"${digest}"`, 'x-linked-etag': `"${digest}"` },
    ...{ 'x-linked-size': String(bytes.length), 'x-repo-commit': `${digest.slice(0, 32)}00000001` },
  })
  t.is((await ask(at, { range: `bytes=${bytes.length}-` })).status, 416)
  t.is((await ask(at, { 'if-none-match': `"${digest}"` })).status, 304)
  const none = await ask('/coach/resolve/v1/none')
  t.deepEqual([none.status, none.headers.get('x-error-code')], [404, 'EntryNotFound'])
  const nowhere = await ask('/coach/resolve/canary/model.safetensors')
  t.deepEqual([nowhere.status, nowhere.headers.get('x-error-code')], [404, 'RevisionNotFound'])
  const stranger = await signedIn(forge, 'stranger')
  const hidden = await ask('/api/models/coach', {}, stranger)
  t.deepEqual([hidden.status, hidden.headers.get('x-error-code')], [404, 'RepoNotFound'])
  const space = { name: 'other', type: 'space' }
  const created = await forge.call('POST', '/api/hub/api/repos/create', { body: space })
  t.is(created.status, 501)
})
