import { mkdir, readdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test from 'ava'
import { keyFolder } from '../../../auth/key-folder.ts'
import { openSealingKeys } from '../../../auth/sealing-keys.ts'
import { openEnv } from '../../../command-api/jobs/sealed-env.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { callApi, signIn } from '../../servers/api.ts'
import { commandLine } from '../../servers/command-line.ts'
import { findDumpTools, startCluster } from '../../servers/dump-tools.ts'
import { patient } from '../../servers/patience.ts'
import { serverProcess } from '../../servers/server-process.ts'
import { emptyFolder } from './embedded.ts'

// needs dump

const secrets = { HF_TOKEN: 'a secret of a job that waits' }
const rubric = {
  name: 'helpful',
  description: 'kept',
  criteria: [{ name: 'clear', description: 'kept', weight: 1 }],
}

test('a database of one’s own is dumped with its files, checked, and restored into an empty one', async t => {
  t.timeout(patient(480_000))
  const folder = await emptyFolder(t)
  const backups = join(folder, 'backups')
  const old = await startCluster(t)
  const server = await serverProcess({ folder, env: { SERVICE_DATABASE_URL: old.url } })
  t.teardown(server.stop)
  await server.start()
  const token = await signIn(server.url)
  const put = await callApi(server.url, 'PUT', '/api/rubrics/admin/helpful', {
    token,
    body: rubric,
  })
  t.is(put.status, 200)
  const { body: lock } = await callApi(server.url, 'GET', '/api/recipes/digits/1.0.0/lock', {
    token,
  })
  const submitted = await callApi<{ run_id: string }>(server.url, 'POST', '/api/jobs', {
    token,
    body: {
      api: 'forge/v2',
      metadata: { name: 'waits', project: 'demo' },
      lock,
      spec: { env: secrets, scheduling: { not_before: '2099-01-01T00:00:00+00:00' } },
    },
  })
  t.is(submitted.status, 200, JSON.stringify(submitted.body))
  const here = { SERVICE_DATA_DIR: server.dataDir, SERVICE_DATABASE_URL: old.url }
  const { run } = await commandLine(t, here)
  const made = await run(['admin', 'backup', backups, '--json', '--verify'])
  t.is(made.code, 0, made.stderr)
  const { verified, files } = JSON.parse(made.stdout)
  t.true(verified.tables > 100 && verified.rows > 0)
  t.true(files >= 3, 'the dump, a key and the id of the host')

  const elsewhere = join(await emptyFolder(t), 'data')
  const restore = ['admin', 'restore', backups]
  const filled = await run(restore, { env: { SERVICE_DATA_DIR: elsewhere } })
  t.is(filled.code, 1)
  t.regex(filled.stderr, /The database is not empty \(.*create another one/)
  const fresh = await startCluster(t)
  const env = { SERVICE_DATA_DIR: elsewhere, SERVICE_DATABASE_URL: fresh.url }
  const restored = await run(restore, { env })
  t.is(restored.code, 0, restored.stderr)
  const keys = join(elsewhere, 'keys')
  t.is((await readdir(keys)).length, 2, 'one that signs, and one that seals')
  const copy = await serverProcess({ folder: dirname(elsewhere), env })
  t.teardown(copy.stop)
  await copy.start()
  const { body } = await callApi(copy.url, 'GET', '/api/rubrics/admin/helpful', { token })
  t.like(body, { description: 'kept' }, 'the token of the original is accepted as well')
  const audit = await callApi(copy.url, 'GET', '/api/audit/verify', { token })
  t.like(audit.body, { ok: true })
  const { run_id } = submitted.body
  const pool = createPool(fresh.url, { max: 1, applicationName: 'test' })
  t.teardown(() => pool.end())
  const { rows } = await pool.query(
    'select env, sealed_env from write.job_state where run_id = $1',
    [run_id],
  )
  const sealing = await openSealingKeys(await keyFolder(keys), new Date())
  t.deepEqual(rows[0].env, {})
  t.deepEqual(await openEnv(rows[0], run_id, sealing), secrets, 'the job gets its secrets')
})

test('a pg_dump that is missing or of another version is named, with what to install', async t => {
  t.timeout(patient(300_000))
  const folder = await emptyFolder(t)
  const tools = await findDumpTools()
  const server = await serverProcess({ folder })
  t.teardown(server.stop)
  await server.start()
  const postgres = join(server.dataDir, 'postgres')
  const lines = (await readFile(join(postgres, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')
  const password = (await readFile(join(postgres, 'password'), 'utf8')).trim()
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await symlink(join(tools, 'pg_dump'), join(bin, 'pg_dump'))
  const { run } = await commandLine(t, {
    SERVICE_DATA_DIR: server.dataDir,
    SERVICE_DATABASE_URL: `postgres://forge:${password}@127.0.0.1:${lines[3]}/forge`,
    PATH: `${bin}:${process.env.PATH}`,
  })
  const backups = join(folder, 'backups')
  const { code, stderr } = await run(['admin', 'backup', backups])
  t.is(code, 1)
  t.regex(
    stderr,
    /PostgreSQL 18 and needs the pg_dump of the same version: .*bin\/pg_dump is of version/,
  )
  t.regex(stderr, /postgresql-client-18/)
  t.deepEqual(await readdir(join(backups, 'backups')), [])
})
