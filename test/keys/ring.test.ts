import { mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { signAccessToken, verifyAccessToken } from '../../auth/access-token.ts'
import { loadKeys } from '../../auth/keys.ts'
import { CannotStart } from '../../platform/cannot-start.ts'

const tokenSeconds = 8 * 3600

async function dataDir(t: ExecutionContext) {
  const folder = await mkdtemp(join(tmpdir(), 'forge-keys-'))
  t.teardown(() => rm(folder, { recursive: true }))
  return folder
}

const claimsAt = (now: Date) => {
  const iat = Math.floor(now.getTime() / 1000)
  return {
    sub: 'alice',
    role: 'operator',
    sid: 's',
    jti: 'j',
    iat,
    exp: iat + tokenSeconds,
  } as const
}

test('a replaced key stays as long as its tokens are valid, and then its file is deleted', async t => {
  const folder = await dataDir(t)
  const keys = await loadKeys(folder)
  const old = keys.current()
  const rotatedAt = new Date(Date.now() + 60_000)
  const token = signAccessToken(keys, claimsAt(rotatedAt))
  const prepared = await keys.prepare(rotatedAt)
  t.is(keys.current().kid, old.kid, 'a prepared key is not in use')
  t.is(await keys.find(prepared.kid), null)
  await prepared.activate()
  t.is(keys.current().kid, prepared.kid)

  const later = (seconds: number) => new Date(rotatedAt.getTime() + seconds * 1000)
  const lastMoment = later(tokenSeconds - 1)
  await keys.renew(lastMoment, tokenSeconds)
  t.like(await verifyAccessToken(keys, token, lastMoment), { sub: 'alice' })
  t.is(await verifyAccessToken(keys, token, later(tokenSeconds)), null, 'it was good before')
  const files = () => readdir(join(folder, 'keys')).then(names => names.sort())
  t.deepEqual(await files(), [`${old.kid}.pem`, `${prepared.kid}.pem`])
  for (const name of await files())
    t.is((await stat(join(folder, 'keys', name))).mode & 0o777, 0o600)

  await keys.renew(later(tokenSeconds + 61), tokenSeconds)
  t.deepEqual(await files(), [`${prepared.kid}.pem`])
  t.is(await keys.find(old.kid), null)
  t.is(
    await verifyAccessToken(keys, token, lastMoment),
    null,
    'it was good while its key was there',
  )
  await keys.renew(later(100 * tokenSeconds), tokenSeconds)
  t.deepEqual(await files(), [`${prepared.kid}.pem`], 'the newest is never removed')
})

test('a token of a key that another process has just created is accepted at once', async t => {
  const folder = await dataDir(t)
  const [one, other] = [await loadKeys(folder), await loadKeys(folder)]
  const now = new Date(Date.now() + 60_000)
  await (await one.prepare(now)).activate()
  const token = signAccessToken(one, claimsAt(now))
  t.not(other.current().kid, one.current().kid)
  t.like(await verifyAccessToken(other, token, now), { sub: 'alice' })
  t.is(other.current().kid, one.current().kid)
})

test("two processes that start together without keys accept each other's tokens", async t => {
  const folder = await dataDir(t)
  const rings = await Promise.all([loadKeys(folder), loadKeys(folder), loadKeys(folder)])
  const now = new Date()
  for (const signing of rings)
    for (const verifying of rings) {
      const token = signAccessToken(signing, claimsAt(now))
      t.truthy(await verifyAccessToken(verifying, token, now))
    }
})

test('a damaged key file is named with what to do, and the other keys stay in use', async t => {
  const folder = await dataDir(t)
  const [running, other] = [await loadKeys(folder), await loadKeys(folder)]
  const token = signAccessToken(running, claimsAt(new Date()))
  const next = await other.prepare(new Date(Date.now() + 60_000))
  await next.activate()
  const path = join(folder, 'keys', `${next.kid}.pem`)
  for (const [bytes, fault] of [
    [40, 'cut off or changed'],
    [0, 'empty'],
  ] as const) {
    await truncate(path, bytes)
    const named = {
      instanceOf: CannotStart,
      message: `${path} is damaged (${fault}): restore it from a backup, or remove it: people whose access token it signed sign in again.`,
    }
    await t.throwsAsync(loadKeys(folder), named)
    await t.throwsAsync(running.renew(new Date(), tokenSeconds), named)
    t.is(await running.find(next.kid), null)
    t.like(await verifyAccessToken(running, token, new Date()), { sub: 'alice' })
  }
  await rm(path)
  await running.renew(new Date(), tokenSeconds)
  t.like(await verifyAccessToken(await loadKeys(folder), token, new Date()), { sub: 'alice' })
})
