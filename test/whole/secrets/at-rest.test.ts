import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { findEmbeddedPostgres } from '../../../platform/postgres/embedded.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { addArchive, archiveOf } from '../../recipes/uploading.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'
import { type Embedded, emptyFolder, startEmbedded } from '../backup/embedded.ts'
import { formsIn, type Secret, unlikely } from './needle.ts'
import { databasePlaces } from './places.ts'

/** Shows that it got the values without showing them. */
const program = `import hashlib, os
for name in ("HF_TOKEN", "OWN_TOKEN", "DB_PASSWORD"):
    print(name, hashlib.sha256(os.environ[name].encode()).hexdigest(), flush=True)
`

type Submitted = { run_id: string }
type Spec = { spec: { env: Record<string, string> } }

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const masked = { HF_TOKEN: '***', DB_PASSWORD: '***', NCCL_DEBUG: 'WARN' }

async function submit({ call }: Embedded, env: object, more: object = {}): Promise<string> {
  const { body: lock } = await call('GET', '/api/recipes/tiny/1.2.0/lock')
  const resources = { gpus_per_node: 1 }
  const spec = { params: { lr: 0.1 }, resources, env, secrets: ['OWN_TOKEN'], ...more }
  const metadata = { name: 'tiny', project: 'demo' }
  const reply = await call<Submitted>('POST', '/api/jobs', {
    body: { api: 'forge/v2', metadata, lock, spec },
  })
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
  return reply.body.run_id
}

async function printedBy({ call }: Embedded, run: string): Promise<string> {
  await until(`${run} has ended`, 90_000, async () => {
    const { body } = await call<{ state: string; exit_code: number | null }>(
      'GET',
      `/api/jobs/${run}`,
    )
    return ['succeeded', 'failed', 'stopped'].includes(body.state) && body.exit_code !== null
  })
  return until(`the output of ${run} can be read`, 30_000, async () => {
    const { body } = await call<{ text: string }[]>('GET', `/api/runs/${run}/logs?limit=500`)
    const text = body.map(line => line.text).join('\n')
    return text.includes('DB_PASSWORD') && text
  })
}

/** PostgreSQL may remove a file meanwhile. */
async function textOf(path: string): Promise<string> {
  try {
    return (await readFile(path)).toString('latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** The files under a folder in which one of these secrets is found (`leaks`), and in which `mark` is. */
async function search(folder: string, secrets: readonly Secret[], mark: string) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found: { leaks: string[]; marked: string[] } = { leaks: [], marked: [] }
  for (const entry of entries.filter(one => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const text = await textOf(path)
    if (text.includes(mark)) found.marked.push(path)
    for (const secret of secrets)
      if (formsIn(text, secret).length > 0) found.leaks.push(`${secret.name} in ${path}`)
  }
  return found
}

test('no secret of a job is in plain text in the data directory, the WAL or a table', async t => {
  t.timeout(patient(400_000))
  const folder = await emptyFolder(t)
  const forge = await startEmbedded(t, folder)
  const added = await addArchive(forge, archiveOf({}, { 'train.py': program }))
  t.is(added.status, 200, JSON.stringify(added.body))
  const secrets: Secret[] = ['token', 'password', 'another token', 'own secret'].map(name => ({
    name,
    value: unlikely(name.replaceAll(' ', '-')),
    allowed: [],
  }))
  const [token = '', password = '', next = '', own = ''] = secrets.map(({ value }) => value)
  t.is((await forge.call('PUT', '/api/secrets/OWN_TOKEN', { body: { value: own } })).status, 200)
  const env = { HF_TOKEN: token, DB_PASSWORD: password, NCCL_DEBUG: 'WARN' }

  const waiting = await submit(forge, env, { scheduling: { not_before: '2099-01-01T00:00:00Z' } })
  const first = await submit(forge, env)
  const cloned = await forge.call<Spec>('POST', `/api/jobs/${waiting}/clone`)
  t.deepEqual(cloned.body.spec.env, masked)
  const seen = await forge.call<Spec>('GET', `/api/jobs/${waiting}`)
  t.is(seen.status, 200)
  const printed = await printedBy(forge, first)
  for (const value of [token, password, own]) t.true(printed.includes(sha256(value)), printed)

  const retried = await forge.call<Submitted>('POST', `/api/jobs/${first}/retry`, {
    body: { env: { HF_TOKEN: next, DB_PASSWORD: password } },
  })
  t.is(retried.status, 200, JSON.stringify(retried.body))
  t.true((await printedBy(forge, retried.body.run_id)).includes(sha256(next)))

  const url = await findEmbeddedPostgres(join(forge.server.dataDir, 'postgres'))
  const pool = createPool(url ?? '', { max: 1, applicationName: 'test' })
  t.teardown(() => pool.end())
  // Pages of tables reach the files.
  await pool.query('checkpoint')
  const { leaks, marked } = await search(forge.server.dataDir, secrets, waiting)
  t.deepEqual(leaks, [])
  t.true(
    marked.some(path => path.includes('pg_wal')),
    'the job itself is in the WAL',
  )
  const places = await databasePlaces(pool)
  t.true(places.some(({ name, text }) => /sealed_env/.test(name) && text.includes('sealing-')))
  for (const secret of secrets)
    t.deepEqual(
      places.filter(({ text }) => formsIn(text, secret).length > 0).map(({ name }) => name),
      [],
    )
})
