import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { adminPassword } from '../../../servers/api.ts'
import { type CommandLine, commandLine, type Ended } from '../../../servers/command-line.ts'
import { type Forge, startForge } from '../../../servers/forge.ts'
import { signedIn } from '../../../servers/signed-in.ts'

const password = ['-u', 'admin', '--password-stdin']

test('a person signs in by password once and stays signed in', async t => {
  const forge = await startForge(t)
  const { run, home } = await commandLine(t, {})
  const login = ['login', '--host', forge.url, ...password]
  const wrong = await run(login, { stdin: 'not the password\n' })
  t.is(wrong.code, 4)
  t.is(wrong.stderr, 'error: Username or password is wrong\n')
  t.is(wrong.stdout, '')

  const right = await run([...login, '--json'], { stdin: `${adminPassword}\n` })
  t.is(right.code, 0, right.stderr)
  const { expires_at, ...rest } = JSON.parse(right.stdout)
  t.deepEqual(rest, {
    type: 'signed_in',
    host: forge.url,
    context: new URL(forge.url).host,
    username: 'admin',
    role: 'admin',
  })
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

type Code = { user_code: string; verification_uri_complete: string }

/** `forge login` by the device flow; `decide` is called with its code as soon as it is shown. */
async function loginByDevice(
  { run }: CommandLine,
  { url }: Forge,
  decide: (code: Code) => Promise<unknown>,
): Promise<Ended> {
  const decisions: Promise<unknown>[] = []
  const ended = await run(['login', '--host', url, '--json'], {
    onStdout(text) {
      const [line, rest] = text.split('\n')
      if (rest !== undefined && decisions.length === 0)
        decisions.push(decide(JSON.parse(line ?? '')))
    },
  })
  await Promise.all(decisions)
  return ended
}

test('a person signs in by approving a code, even without a terminal', async t => {
  const forge = await startForge(t)
  const line = await commandLine(t, {})
  const ada = await signedIn(forge, 'ada')
  const ended = await loginByDevice(line, forge, ({ user_code }) =>
    forge.call('POST', `/api/cli/device/${user_code}/approve`, { token: ada }),
  )
  t.is(ended.code, 0, ended.stderr)
  const [code, signed] = ended.stdout
    .trim()
    .split('\n')
    .map(each => JSON.parse(each))
  t.like(code, { type: 'code', host: forge.url, expires_in: 900, interval: 5 })
  t.is(code.device_code, undefined)
  t.true(ended.stderr.includes(code.verification_uri_complete))
  t.true(ended.stderr.includes(`shows the code ${code.user_code}`))
  t.like(signed, { type: 'signed_in', username: 'ada', role: 'operator' })
  const path = join(line.home, '.config/forge/contexts.json')
  t.is((await stat(path)).mode & 0o777, 0o600)
  const me = JSON.parse((await line.run(['whoami', '--json'])).stdout)
  t.like(me, { username: 'ada', host: forge.url, token: { method: 'device' } })
})

test('a denied and an expired code end the sign-in, and nothing is kept', async t => {
  const forge = await startForge(t)
  const [one, other] = await Promise.all([commandLine(t, {}), commandLine(t, {})])
  const [denied, expired] = await Promise.all([
    loginByDevice(one, forge, ({ user_code }) =>
      forge.call('POST', `/api/cli/device/${user_code}/deny`),
    ),
    loginByDevice(other, forge, ({ user_code }) =>
      forge.pool.query('update auth.device_code set expires_at = now() where user_code = $1', [
        user_code,
      ]),
    ),
  ])
  t.is(denied.code, 4)
  t.is(JSON.parse(denied.stderr.trim().split('\n').at(-1) ?? '').error.detail, 'access_denied')
  t.is(expired.code, 4)
  t.is(JSON.parse(expired.stderr.trim().split('\n').at(-1) ?? '').error.detail, 'expired_token')
  const listed = await Promise.all(
    [one, other].map(({ run }) => run(['context', 'list', '--json'])),
  )
  t.deepEqual(
    listed.map(({ stdout }) => JSON.parse(stdout)),
    [[], []],
  )
})

test('a person with two accounts chooses between them, and signs out of one', async t => {
  const forge = await startForge(t)
  const { run, home } = await commandLine(t, {})
  const ada = await signedIn(forge, 'ada')
  const at = ['--host', forge.url]
  await run(['login', ...at, ...password, '--context', 'boss'], { stdin: adminPassword })
  await run(['login', ...at, '--token-stdin', '--context', 'me'], { stdin: ada })
  const who = async (...args: string[]) =>
    JSON.parse((await run(['whoami', '--json', ...args])).stdout).username
  t.is(await who(), 'ada')
  t.is(await who('--context', 'boss'), 'admin')
  t.is((await run(['context', 'use', 'boss'])).code, 0)
  t.is(await who(), 'admin')
  t.is(await who('--context', 'me'), 'ada')

  const listed = await run(['context', 'list', '--json'])
  t.false(listed.stdout.includes(ada))
  t.like(JSON.parse(listed.stdout), [
    { name: 'boss', host: forge.url, username: 'admin', current: true },
    { name: 'me', host: forge.url, username: 'ada', current: false },
  ])
  const shown = await run(['context', 'list'])
  t.regex(shown.stdout, /\* {2}boss +http/)

  const out = await run(['logout', '--context', 'me', '--json'])
  t.is(out.code, 0, out.stderr)
  t.deepEqual(JSON.parse(out.stdout), { host: forge.url, context: 'me', signed_out: true })
  t.is((await forge.call('GET', '/api/auth/me', { token: ada })).status, 401)
  t.false((await readFile(join(home, '.config/forge/contexts.json'), 'utf8')).includes(ada))
  t.is((await run(['whoami', '--context', 'me'])).code, 4)
  t.is((await run(['logout', '--context', 'me'])).code, 4)
  t.is(await who(), 'admin')

  t.is((await run(['context', 'remove', 'boss'])).code, 0)
  t.is((await run(['context', 'use', 'boss'])).code, 2)
  t.is((await run(['whoami', '--context', 'boss'])).code, 2)
})

test('signing out deletes the token even if the server is unreachable', async t => {
  const forge = await startForge(t)
  const { run, home } = await commandLine(t, { FORGE_HOST: forge.url })
  await run(['login', ...password], { stdin: adminPassword })
  await forge.stop()
  const out = await run(['logout'])
  t.is(out.code, 6)
  t.regex(out.stderr, /was forgotten here, but/)
  const { contexts } = JSON.parse(await readFile(join(home, '.config/forge/contexts.json'), 'utf8'))
  t.is(contexts[new URL(forge.url).host].token, null)
})

test('without a terminal there are no prompts', async t => {
  const { run } = await commandLine(t, {})
  const answers = await Promise.all([
    run(['login', '--password']),
    run(['login', '-u', 'admin']),
    run(['login', '--password-stdin', '--token-stdin']),
    run(['login', '--password', '--token-stdin']),
  ])
  t.deepEqual(
    answers.map(({ code }) => code),
    [2, 2, 2, 2],
  )
  t.regex(answers[0]?.stderr ?? '', /give --username/)
  t.regex(answers[1]?.stderr ?? '', /give --password-stdin/)
})

test('Ctrl-C at a prompt ends the command silently', async t => {
  const { run } = await commandLine(t, {})
  const left = await run(['login', '--password'], {
    terminal: {
      columns: 80,
      rows: 24,
      keysAfter: shown => (shown.includes('Username: ') ? '\u0003' : ''),
    },
  })
  t.is(left.code, 130)
  t.notRegex(left.stdout, /error|Interrupted/)
})

test('exit codes distinguish a typo, a missing sign-in and an unreachable server', async t => {
  const { run } = await commandLine(t, { FORGE_HOST: 'http://127.0.0.1:9' })
  const slip = await run(['sumbit'])
  t.is(slip.code, 2)
  t.regex(slip.stderr, /Did you mean submit/)
  t.is((await run(['ps', '--nonsense'])).code, 2)
  t.is((await run(['ps'])).code, 4)
  t.is((await run(['login'])).code, 6)
  const away = await run(['ps', '--json'], { env: { FORGE_TOKEN: 'x' } })
  t.is(away.code, 6)
  t.is(JSON.parse(away.stderr).error.exit_code, 6)
  t.is(away.stdout, '')
  t.is((await run(['--version'])).code, 0)
  t.is((await run(['--help'])).code, 0)
})
