import test from 'ava'
import { newCode, nextCode } from '../../../second-factors/authenticator.ts'
import { adminPassword } from '../../../servers/api.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'

const byPassword = ['-u', 'admin', '--password-stdin']

test('a person sets up an authenticator by commands, and signs in with its code on a second line', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, {})
  const login = ['login', '--host', forge.url, ...byPassword]
  t.is((await run(login, { stdin: adminPassword })).code, 0)
  const status = async () => JSON.parse((await run(['account', 'totp', 'status', '--json'])).stdout)
  t.like(await status(), { is_available: true, set_up_at: null })

  const setUp = ['account', 'totp', 'set-up', '--password-stdin', '--json']
  const wrong = await run(setUp, { stdin: 'not the password' })
  t.is(wrong.code, 4)
  const begun = await run(setUp, { stdin: adminPassword })
  t.is(begun.code, 0, begun.stderr)
  const { secret } = JSON.parse(begun.stdout)
  t.is((await run(['account', 'totp', 'confirm', '12345'])).code, 3)
  const confirmed = await run(['account', 'totp', 'confirm', newCode(secret)])
  t.is(confirmed.code, 0, confirmed.stderr)
  const recovery = confirmed.stdout.trim().split('\n')
  t.is(recovery.length, 10)
  t.like(await status(), { recovery_codes_left: 10 })

  const alone = await run(login, { stdin: adminPassword })
  t.is(alone.code, 2)
  t.regex(alone.stderr, /A code is needed as well: on a second line of standard input/)
  t.is((await run(login, { stdin: `${adminPassword}\n000000\n` })).code, 4)
  t.is((await run(login, { stdin: `${adminPassword}\n${nextCode(secret)}\n` })).code, 0)
  t.is((await run(login, { stdin: `${adminPassword}\n${recovery[3]}\n` })).code, 0)
  t.like(await status(), { recovery_codes_left: 9 })
  const shown = await run(['account', 'totp', 'status'])
  t.regex(shown.stdout, /recovery codes left: 9/)

  const removed = await run(['account', 'totp', 'remove', '--password-stdin'], {
    stdin: adminPassword,
  })
  t.is(removed.code, 0, removed.stderr)
  t.is((await run(login, { stdin: adminPassword })).code, 0)
})

/** Types each answer once its question is shown, in turn. */
function answering(...answers: [question: RegExp, answer: (shown: string) => string][]) {
  const keysAfter = (shown: string) => {
    const [next] = answers
    if (!next?.[0].test(shown)) return ''
    answers.shift()
    return `${next[1](shown)}\r`
  }
  return { terminal: { columns: 120, rows: 60, keysAfter } }
}

test('on a terminal, the code is asked for only when it is needed', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, {})
  const login = ['login', '--host', forge.url, '-u', 'admin']
  const password = [/Password: /, () => adminPassword] as [RegExp, () => string]
  const first = await run(login, answering(password))
  t.is(first.code, 0, first.stdout)
  t.notRegex(first.stdout, /Code of your authenticator/)

  const secretIn = (shown: string) => /secret=([A-Z2-7]{32})/.exec(shown)?.[1] ?? ''
  const setUp = await run(
    ['account', 'totp', 'set-up'],
    answering(password, [/Code that it shows: /, shown => newCode(secretIn(shown))]),
  )
  t.is(setUp.code, 0, setUp.stdout)
  t.is(setUp.stdout.match(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}\r?$/gm)?.length, 10)
  t.regex(setUp.stdout, /[▀▄█ ]{20}/, 'the QR code')

  const question = /Code of your authenticator, or a recovery code: /
  const code = nextCode(secretIn(setUp.stdout))
  const second = await run(login, answering(password, [question, () => code]))
  t.is(second.code, 0, second.stdout)
})
