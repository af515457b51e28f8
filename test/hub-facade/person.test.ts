import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { hubVariables } from '../../schemas/runs/runs.ts'
import { untilValidated } from '../datasets/pushing.ts'
import { sharedForge } from '../servers/forge.ts'
import { launched } from '../servers/launched.ts'
import { patient } from '../servers/patience.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { emptyFolder, script } from './python.ts'

const roles = 'command-api,relay,projector,query-api'
const theForge = sharedForge({ SERVICE_ROLES: roles })

/** More than a commit may carry itself. */
const large = `${JSON.stringify({ text: 'x'.repeat(600_000) })}\n`
const small = `${JSON.stringify({ text: 'a' })}\n`
const card = '---\nlicense: mit\n---\n# Notes\n'

async function folderToUpload(t: ExecutionContext): Promise<string> {
  const folder = await emptyFolder(t)
  await mkdir(join(folder, 'sub'))
  await writeFile(join(folder, 'train.jsonl'), small)
  await writeFile(join(folder, 'sub/test.jsonl'), large)
  await writeFile(join(folder, 'README.md'), card)
  await writeFile(join(folder, '.gitattributes'), '*.jsonl filter=lfs\n')
  return folder
}

type Uploaded = {
  repo: [string, boolean]
  commits: string[]
  page: boolean
  twice: unknown
  stale: unknown
  bad: unknown
}
type Read = Record<string, unknown> & { files: Record<string, number> }
type Refused = { info: unknown; snapshot: unknown; upload: unknown }

const sizes = {
  'README.md': card.length,
  'sub/test.jsonl': large.length,
  'train.jsonl': small.length,
}

test.serial(
  'a person uploads a folder as a version with the client of the Hub, and reads it back',
  async t => {
    t.timeout(patient(400_000), 'the client is installed first')
    const forge = await theForge()
    const token = await signedIn(forge, 'owner')
    const hub = { HF_ENDPOINT: `${forge.url}/api/hub`, HF_TOKEN: token, REPO: 'owner/notes' }
    const up = await script<Uploaded>(t, ['person.py', 'upload', await folderToUpload(t)], hub)
    const [first = '', same, second, third] = up.commits
    t.regex(first, /^[0-9a-f]{32}00000001$/)
    t.is(same, first, 'the same files make no other version')
    t.is(third?.slice(0, 32), first.slice(0, 32), 'the same files have the same digest')
    t.deepEqual([second?.slice(32), third?.slice(32)], ['00000002', '00000003'])
    t.deepEqual(up.repo, ['owner/notes', true])
    t.true(up.page)
    t.deepEqual(up.twice, ['HfHubHTTPError', 409])
    t.deepEqual(up.stale, ['HfHubHTTPError', 412])
    t.deepEqual(up.bad, Array(2).fill(['BadRequestError', 400]))
    for (const version of [1, 2, 3]) await untilValidated(forge, 'owner/notes', version)
    const read = await script<Read>(t, ['person.py', 'read', await emptyFolder(t)], hub)
    t.deepEqual(read, {
      who: 'owner',
      info: [third, true, false, Object.keys(sizes)],
      refs: [['main'], ['v1', 'v2', 'v3']],
      tree: [
        ['README.md', true],
        ['sub', false],
        ['sub/test.jsonl', true],
        ['train.jsonl', true],
      ],
      known: ['train.jsonl', 'sub'],
      files: sizes,
      first: sizes,
      missing: [
        ['RevisionNotFoundError', 404],
        ['RemoteEntryNotFoundError', 404],
      ],
    })
    const { body } = await forge.call('GET', '/api/datasets/owner/notes', { token })
    t.like(body, {
      card,
      visibility: 'private',
      newest: { state: 'ready', source: { kind: 'upload' } },
    })
  },
)

test.serial(
  'who may see a dataset, but not use it, meets a gate, and everybody else nothing',
  async t => {
    t.timeout(patient(400_000))
    const forge = await theForge()
    const [viewer, stranger] = [await signedIn(forge, 'viewer'), await signedIn(forge, 'stranger')]
    const path = '/api/datasets/owner/notes'
    await forge.call('PUT', `${path}/grants/viewer`, { body: { see: true, use: false } })
    await until('the viewer sees it', 30_000, async () => {
      const { status } = await forge.call('GET', path, { token: viewer })
      return status === 200
    })
    const as = async (HF_TOKEN: string, REPO = 'owner/notes') =>
      script<Refused>(t, ['person.py', 'refused', await emptyFolder(t)], {
        ...{ HF_ENDPOINT: `${forge.url}/api/hub`, HF_TOKEN, REPO },
      })
    const hidden = ['RepositoryNotFoundError', 404]
    t.deepEqual(await as(viewer), {
      info: null,
      snapshot: ['GatedRepoError', 403],
      upload: ['HfHubHTTPError', 403],
    })
    const all = { info: hidden, snapshot: hidden, upload: hidden }
    t.deepEqual(await as(stranger), all)
    t.deepEqual(await as(stranger, 'owner/none'), all)
    const unknown = ['HfHubHTTPError', 401]
    t.deepEqual(await as('nobody'), { info: unknown, snapshot: unknown, upload: unknown })
  },
)

test.serial('a job gets the address and the token, with the rights of its owner', async t => {
  t.timeout(patient(400_000))
  const forge = await theForge()
  const reporting: Record<string, string> = (await launched(forge, {})).order?.reporting ?? {}
  const { HF_ENDPOINT = '', HF_TOKEN = '' } = reporting
  t.is(HF_ENDPOINT, 'http://127.0.0.1:9/api/ingest/hub')
  t.is(reporting.HF_TOKEN, reporting.SERVICE_TOKEN)
  t.is(reporting.HF_HUB_DISABLE_XET, '1')
  const hub = { HF_ENDPOINT: HF_ENDPOINT.replace('http://127.0.0.1:9', forge.url), HF_TOKEN }
  const REPO = 'admin/of-run'
  const own = await script<Uploaded>(t, ['person.py', 'upload', await folderToUpload(t)], {
    ...{ ...hub, REPO },
  })
  t.is(own.commits[3]?.slice(32), '00000003')
  for (const version of [1, 3]) await untilValidated(forge, REPO, version)
  const read = await script<Read>(t, ['person.py', 'read', await emptyFolder(t)], { ...hub, REPO })
  t.like(read, { who: 'admin', files: sizes })
  const { body } = await forge.call('GET', `/api/datasets/${REPO}`)
  t.like(body, { newest: { source: { kind: 'run' } } })
  const others = await script<Refused>(t, ['person.py', 'refused', await emptyFolder(t)], {
    ...{ ...hub, REPO: 'owner/notes' },
  })
  const hidden = ['RepositoryNotFoundError', 404]
  t.deepEqual(others, { info: hidden, snapshot: hidden, upload: hidden }, 'no rights of admins')
})

test('a job that names a Hub or a token for one keeps to it', async t => {
  t.timeout(patient(120_000))
  const forge = await theForge()
  const own = { HF_ENDPOINT: 'http://hub.example' }
  const { order } = await launched(forge, own)
  t.deepEqual(order?.env, own)
  const given = Object.keys(order?.reporting ?? {}).filter(name => name.startsWith('HF_'))
  t.deepEqual(given, [])
  const ours = { baseUrl: 'http://forge.example', token: 'fit_of_run' }
  t.deepEqual(hubVariables({ HF_TOKEN: 'hf_mine' }, ours), {})
})
