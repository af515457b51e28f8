import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import {
  contextsPath,
  readContexts,
  writeContexts,
} from '../../../../clients/cli/login/contexts.ts'
import { refreshOf } from '../../../../clients/cli/login/renewal.ts'
import { adminPassword } from '../../../servers/api.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { patient } from '../../../servers/patience.ts'
import { signedIn } from '../../../servers/signed-in.ts'

const password = ['-u', 'admin', '--password-stdin']

/** A person signed in on the command line, whose access token has ended. */
async function expiredSignIn(t: ExecutionContext) {
  const forge = await startForge(t)
  const line = await commandLine(t, { FORGE_HOST: forge.url })
  await line.run(['login', ...password], { stdin: adminPassword })
  const path = contextsPath({ HOME: line.home })
  const spend = async () => {
    const { current, contexts } = await readContexts(path)
    const name = String(current)
    const kept = contexts[name]
    if (!kept) throw new Error('no sign-in is stored')
    // As the server treats an expired token: 401.
    await writeContexts(path, {
      current,
      contexts: { ...contexts, [name]: { ...kept, token: 'x' } },
    })
    return kept
  }
  const kept = await spend()
  return { forge, ...line, path, spend, kept }
}

test('a sign-in continues after its access token has ended, until its session ends', async t => {
  const { forge, run, path, kept, spend } = await expiredSignIn(t)
  const shown = await run(['whoami'])
  t.is(shown.code, 0, shown.stderr)
  const daysLeft = (Date.parse(kept.refresh?.expires_at ?? '') - Date.now()) / 86_400_000
  t.true(daysLeft > 29 && daysLeft <= 30, `${daysLeft}`)
  t.true(shown.stdout.includes(`signed in until  ${kept.refresh?.expires_at.slice(0, 10)}`))
  const [renewed] = Object.values((await readContexts(path)).contexts)
  t.not(renewed?.token, 'x')
  t.not(renewed?.refresh?.cookie, kept.refresh?.cookie)
  t.is((await stat(path)).mode & 0o777, 0o600)

  await spend()
  await forge.pool.query('update auth.session set revoked_at = now()')
  const ended = await run(['whoami'])
  t.is(ended.code, 4)
  t.regex(ended.stderr, /hint: forge login --host/)
  t.false((await readFile(path, 'utf8')).includes('forge_refresh'), 'a dead cookie is not kept')
})

test('commands that run at once renew once, and none ends the session', async t => {
  const { forge, run } = await expiredSignIn(t)
  const ended = await Promise.all(
    Array.from({ length: 4 }, () => run(['whoami', '--json'], { inItsOwnProcess: true })),
  )
  t.deepEqual(
    ended.map(({ code }) => code),
    [0, 0, 0, 0],
  )
  const { rows } = await forge.pool.query(
    `select count(*)::int as used from auth.refresh_token where used_at is not null`,
  )
  t.deepEqual(rows, [{ used: 1 }])
})

test('a sign-in by a code in the browser renews itself too, and logout ends it', async t => {
  const forge = await startForge(t)
  const { run, home } = await commandLine(t, { FORGE_HOST: forge.url })
  const ada = await signedIn(forge, 'ada')
  let isDecided = false
  const login = await run(['login', '--json'], {
    onStdout(text) {
      if (isDecided || !text.includes('\n')) return
      isDecided = true
      const { user_code } = JSON.parse(text.split('\n')[0] ?? '')
      void forge.call('POST', `/api/cli/device/${user_code}/approve`, { token: ada })
    },
  })
  t.is(login.code, 0, login.stderr)
  t.false(login.stdout.includes('forge_refresh'))
  const path = contextsPath({ HOME: home })
  const { current, contexts } = await readContexts(path)
  const [kept] = Object.values(contexts)
  if (!kept) return t.fail('nothing is stored')
  // Pretend that the sign-in is a day old, which a new session would not show.
  await forge.pool.query(`update auth.session set expires_at = expires_at - interval '1 day'`)
  await writeContexts(path, { current, contexts: { [String(current)]: { ...kept, token: 'x' } } })
  t.like(JSON.parse((await run(['whoami', '--json'])).stdout), { username: 'ada' })
  const listed = await run(['context', 'list', '--json'])
  // A renewal extends no session; the server reports its end in whole seconds from now.
  const endMs = Date.parse(kept.refresh?.expires_at ?? '') - 86_400_000
  const movedMs = Date.parse(JSON.parse(listed.stdout)[0].expires_at) - endMs
  t.true(Math.abs(movedMs) <= 1000 + patient(1000), `moved by ${movedMs} ms`)

  await writeContexts(path, { current, contexts: { [String(current)]: { ...kept, token: 'x' } } })
  await run(['logout'])
  t.false((await readFile(path, 'utf8')).includes('forge_refresh'))
})

test('only the refresh cookie of Forge is kept', t => {
  const kept = refreshOf('__Secure-forge_refresh=abc_-1; Path=/api/auth; Max-Age=60; Secure', 0)
  t.deepEqual(kept, {
    cookie: '__Secure-forge_refresh=abc_-1',
    expires_at: '1970-01-01T00:01:00+00:00',
  })
  t.is(refreshOf('session=abc; Max-Age=60', 0), null)
  t.is(refreshOf('forge_refresh=; Max-Age=0', 0), null)
  t.is(refreshOf('forge_refresh=a b; Max-Age=9', 0), null)
})

test('a lock that a killed command left is taken over', async t => {
  const { run, path } = await expiredSignIn(t)
  const longAgo = new Date(Date.now() - 60_000)
  await mkdir(`${path}.lock`)
  await writeFile(`${path}.lock/holder`, '')
  await utimes(`${path}.lock/holder`, longAgo, longAgo)
  t.is((await run(['whoami'])).code, 0)
})
