import test from 'ava'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'

const chosen = 'staple battery horse 7'

test('at the first sign-in with a generated password, a terminal asks for another one', async t => {
  const forge = await startForge(t)
  const { body } = await forge.call<{ password: string }>('POST', '/api/admin/users', {
    body: { username: 'ada', role: 'operator' },
  })
  const { run } = await commandLine(t, {})
  const login = ['login', '--host', forge.url, '-u', 'ada']
  const piped = await run([...login, '--password-stdin'], { stdin: body.password })
  t.is(piped.code, 0, piped.stderr)
  t.regex(piped.stderr, /Nothing else is permitted until then: forge passwd/)
  const refused = await run(['ps'])
  t.is(refused.code, 4)
  t.regex(refused.stderr, /Your password was generated for you/)
  t.regex(refused.stderr, /hint: forge passwd/)

  const answers: [RegExp, string][] = [
    [/Password: /, body.password],
    [/New password: /, chosen],
    [/New password again: /, chosen],
  ]
  const keysAfter = (shown: string) => {
    const [next] = answers
    if (!next?.[0].test(shown)) return ''
    answers.shift()
    return `${next[1]}\r`
  }
  const typed = await run(login, { terminal: { columns: 120, rows: 40, keysAfter } })
  t.is(typed.code, 0, typed.stdout)
  t.regex(typed.stdout, /Your password is changed/)
  t.is((await run(['ps'])).code, 0)
  const next = await run([...login, '--password-stdin'], { stdin: chosen })
  t.is(next.code, 0, next.stderr)
  t.notRegex(next.stderr, /generated/)
})
