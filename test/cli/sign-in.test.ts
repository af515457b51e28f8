import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { commandLine } from '../servers/command-line.ts'
import { adminPassword, startForge } from '../servers/forge.ts'

test('one signs in by password once and is known from then on', async t => {
  const forge = await startForge(t)
  const { run, home } = await commandLine(t, {})
  const login = ['login', '--host', forge.url, '-u', 'admin', '--password-stdin']
  const wrong = await run(login, { stdin: 'not the password\n' })
  t.is(wrong.code, 4)
  t.regex(wrong.stderr, /^error: .*\n(.*\n)* {2}request: \S+\n$/)
  t.is(wrong.stdout, '')

  const right = await run([...login, '--json'], { stdin: `${adminPassword}\n` })
  t.is(right.code, 0, right.stderr)
  const { host, username, role, expires_at } = JSON.parse(right.stdout)
  t.deepEqual({ host, username, role }, { host: forge.url, username: 'admin', role: 'admin' })
  t.true(Date.parse(expires_at) > Date.now())
  const path = join(home, '.config/forge/contexts.json')
  t.is((await stat(path)).mode & 0o777, 0o600)
  t.false((await readFile(path, 'utf8')).includes(adminPassword))

  const listed = await run(['admin', 'projections', '--json'])
  t.is(listed.code, 0, listed.stderr)
  t.true(JSON.parse(listed.stdout).projections.length > 0)
  const denied = await run(['admin', 'projections'], { env: { FORGE_TOKEN: 'no.such.token' } })
  t.is(denied.code, 4)
  t.regex(denied.stderr, /hint: forge login --host/)
})

test('without a terminal nothing is asked', async t => {
  const { run } = await commandLine(t, {})
  const answers = await Promise.all([
    run(['login']),
    run(['login', '-u', 'admin']),
    run(['login', '--password-stdin', '--token-stdin']),
  ])
  t.deepEqual(
    answers.map(({ code }) => code),
    [2, 2, 2],
  )
  t.regex(answers[0]?.stderr ?? '', /give --username/)
  t.regex(answers[1]?.stderr ?? '', /give --password-stdin/)
})

test('exit codes tell a slip, a missing sign-in and a server that is away apart', async t => {
  const { run } = await commandLine(t, { FORGE_HOST: 'http://127.0.0.1:9' })
  const slip = await run(['sumbit'])
  t.is(slip.code, 2)
  t.regex(slip.stderr, /Did you mean submit/)
  t.is((await run(['ps', '--nonsense'])).code, 2)
  t.is((await run(['ps'])).code, 4)
  const away = await run(['ps', '--json'], { env: { FORGE_TOKEN: 'x' } })
  t.is(away.code, 6)
  t.is(JSON.parse(away.stderr).error.exit_code, 6)
  t.is(away.stdout, '')
  t.is((await run(['--version'])).code, 0)
  t.is((await run(['--help'])).code, 0)
})
