import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { newRecoveryCodes, recoveryHash } from '../../command-api/rules/recovery-codes.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import type { SignedIn } from '../samples/sample.ts'
import { asked, sender, signIn } from '../samples/send.ts'
import { database, databaseFrom } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'
import { lacking } from './answers.ts'
import { catalogs } from './catalogs.ts'
import { type Fixture, fixtureNames, type Unpacked, unpack } from './fixture.ts'
import { answersAt, type Restored, restored, startOn } from './start.ts'

async function unpacked(t: ExecutionContext, name: string): Promise<Unpacked> {
  const { remove, ...rest } = await unpack(name)
  t.teardown(remove)
  return rest
}

async function restoredFrom(t: ExecutionContext, name: string): Promise<[Restored, Fixture]> {
  const from = await unpacked(t, name)
  const { url: databaseUrl } = await databaseFrom(t, 'template1')
  const dataDir = await mkdtemp(join(tmpdir(), 'forge-test-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  return [await restored(from, { databaseUrl, dataDir }), from.fixture]
}

/**
 * A request for a rebuild is recorded, and the samples wrote dead letters by hand. The server that carries it out also polls
 * the engines of deployments, which are gone.
 */
const changedByRebuild = / \/api\/(audit|admin\/dead-letters|(lineage\/)?deployments|playground)/

const names = await fixtureNames()

test('there are fixtures', t => {
  t.true(names.length >= 1)
})

// Serial, because a server that is restored slowly ends silent runs, a minute after the recording.
for (const name of names) {
  test.serial(
    `${name}: this version reads everything as that one did, also from rebuilt read models`,
    async t => {
      const [place, fixture] = await restoredFrom(t, name)
      t.true(Object.keys(fixture.answers).length > 150)
      t.deepEqual(lacking(fixture.answers, await answersAt(place, fixture)), [])

      const fresh = await database(t)
      t.deepEqual(await catalogs(place.databaseUrl), await catalogs(fresh.url))

      await rebuild(t, place, fixture)
      const others = Object.entries(fixture.answers).filter(
        ([path]) => !changedByRebuild.test(path),
      )
      t.deepEqual(lacking(Object.fromEntries(others), await answersAt(place, fixture)), [])
    },
  )

  test(`${name}: this version works on it`, async t => {
    const [place, { samples }] = await restoredFrom(t, name)
    const { url, stop } = await startOn(place)
    t.teardown(stop)
    const send = sender(url)
    const person = await signIn(send, await recoverable(t, place, samples.people.operator))
    const ask = <T>(method: string, path: string, body?: object) =>
      asked<T>(send, person, { method, path, body })
    const { run_id, token } = await ask<{ run_id: string; token: string }>('POST', '/api/runs', {
      project: samples.made.operator.fields.project,
    })
    const points = [{ key: 'loss', step: 1, value: 0.5 }]
    await asked(
      send,
      { token },
      { method: 'POST', path: '/api/ingest/metrics', body: { run_id, points } },
    )
    await until('the point is readable', 20_000, async () => {
      const { text } = await send({
        method: 'GET',
        path: `/api/runs/${run_id}/metrics?keys=loss`,
        headers: { authorization: `Bearer ${person.token}` },
      })
      return text.includes('0.5')
    })
    const { artifact_id } = samples.made.operator.nouns.artifacts ?? {}
    const artifact = await ask<{ sha256: string }>('GET', `/api/artifacts/${artifact_id}`)
    const download = await ask<{ url: string }>('GET', `/api/artifacts/${artifact_id}/download-url`)
    const { pathname, search } = new URL(download.url)
    const bytes = await (await fetch(`${url}${pathname}${search}`)).bytes()
    t.is(createHash('sha256').update(bytes).digest('hex'), artifact.sha256)
    const admin = await signIn(send, await recoverable(t, place, samples.people.admin))
    const verified = await asked<{ ok: boolean }>(send, admin, {
      method: 'GET',
      path: '/api/audit/verify',
    })
    t.true(verified.ok)
  })
}

/** Samples of earlier versions have passkeys without recovery codes. */
async function recoverable(
  t: ExecutionContext,
  { databaseUrl }: Restored,
  {
    username,
    password,
    recovery = [],
  }: Partial<SignedIn> & Pick<SignedIn, 'username' | 'password'>,
) {
  const [code = newRecoveryCodes()[0] ?? ''] = recovery
  const pool = createPool(databaseUrl, { max: 1, applicationName: 'forge test' })
  t.teardown(() => pool.end())
  await pool.query(
    'insert into auth.recovery_code (username, code_sha256) values ($1, $2) on conflict do nothing',
    [username, recoveryHash(code)],
  )
  return { username, password, recovery: [code] }
}

async function rebuild(t: ExecutionContext, place: Restored, { samples }: Fixture): Promise<void> {
  const { url, stop } = await startOn(place)
  const { people } = samples
  const ask = <T>(method: string, path: string) =>
    asked<T>(sender(url), people.admin, { method, path })
  try {
    await ask('POST', '/api/admin/projections/all/rebuild')
    const { rebuild } = await until('the rebuild is over', 30_000, async () => {
      const body = await ask<{ rebuild: { state: string } }>('GET', '/api/admin/projections')
      return body.rebuild.state === 'running' ? null : body
    })
    t.is(rebuild.state, 'succeeded')
  } finally {
    await stop()
  }
}
