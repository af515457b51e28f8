import test, { type ExecutionContext } from 'ava'
import { adminPassword } from '../../../servers/api.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'

/** The command line of an administrator who signed in a while ago. */
async function longSignedIn(t: ExecutionContext) {
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const age = () =>
    forge.pool.query(
      `update auth.session set authenticated_at = authenticated_at - interval '16 minutes'`,
    )
  await age()
  return { forge, run, age }
}

const add = (name: string) => ['admin', 'users', 'add', name, '--admin']

test('at a terminal a dangerous command asks for the password once, and is then done', async t => {
  const { run } = await longSignedIn(t)
  const question = 'sign-in of the last 15 minutes. Your password: '
  const typing = (password: string) => {
    let isTyped = false
    const keysAfter = (shown: string) => {
      if (isTyped || !shown.includes(question)) return ''
      isTyped = true
      return `${password}\r`
    }
    return { terminal: { columns: 120, rows: 24, keysAfter } }
  }
  const wrong = await run(add('ada'), typing('not the password'))
  t.is(wrong.code, 4, wrong.stdout)
  t.regex(wrong.stdout, /The current password is wrong/)
  const right = await run(add('ada'), typing(adminPassword))
  t.is(right.code, 0, right.stdout)
  t.regex(right.stdout, /Created ada/)
  t.false(right.stdout.includes(adminPassword))
  t.is((await run(add('bea'))).code, 0, 'the sign-in is recent now')
})

test('without a terminal a dangerous command says what to type, and forge confirm is enough', async t => {
  const { forge, run } = await longSignedIn(t)
  const refused = await run(add('ada'))
  t.is(refused.code, 4)
  t.regex(refused.stderr, /^error: Your sign-in is older than 15 minutes; confirm your password/)
  t.true(refused.stderr.includes(`hint: forge confirm --host ${forge.url}`), refused.stderr)
  const json = await run([...add('ada'), '--json'])
  t.like(JSON.parse(json.stdout || json.stderr).error, { code: 'sign_in_again' })

  const confirm = ['confirm', '--password-stdin']
  t.is((await run(confirm, { stdin: 'not the password\n' })).code, 4)
  t.is((await run(add('ada'))).code, 4)
  const confirmed = await run(confirm, { stdin: `${adminPassword}\n` })
  t.is(confirmed.code, 0, confirmed.stderr)
  t.is((await run(add('ada'))).code, 0)
})
