import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { newCode } from '../../../second-factors/authenticator.ts'
import { adminPassword } from '../../../servers/api.ts'
import { startEngine } from '../../../servers/engine.ts'
import { type Forge, startForge } from '../../../servers/forge.ts'
import { patient } from '../../../servers/patience.ts'
import { shell } from '../../../servers/shell.ts'

/** Runs a line of the shell in a new home. */
async function inShell(t: ExecutionContext, forge: Forge, script: string) {
  const home = await mkdtemp(join(tmpdir(), 'forge-home-'))
  t.teardown(() => rm(home, { recursive: true, force: true }))
  return await shell({ forge, home }, script)
}

/** A full disk, and a reader that has already ended. */
const lossOf = (command: string) => [
  { script: `${command} > /dev/full`, fault: 'ENOSPC' },
  { script: `(sleep 1; ${command}; echo "code $?" >&2) | true`, fault: 'EPIPE' },
]

test('a secret that could not be printed is named, with the way to another one', async t => {
  t.timeout(patient(180_000))
  const forge = await startForge(t)
  const { url } = await startEngine(t)
  const made = await inShell(
    t,
    forge,
    `forge deploy create tutor --url ${url} -p serving --no-wait && forge admin users add ada > password`,
  )
  t.is(made.code, 0, made.stderr)
  const commands: [string, RegExp][] = [
    ['forge deploy token new tutor app', /forge deploy token revoke tutor app, then create/],
    ['forge deploy token new tutor other --json', /forge deploy token revoke tutor other/],
    ['forge admin users add bob', /forge admin users set bob --reset-password/],
    ['forge admin users set ada --reset-password', /forge admin users set ada --reset-password/],
  ]
  for (const [command, another] of commands) {
    const { script } = lossOf(command)[0] ?? { script: '' }
    const { code, stderr } = await inShell(t, forge, script)
    t.is(code, 74, `${command}: ${stderr}`)
    const errors = stderr.split('\n').filter(line => line.includes('error'))
    t.is(errors.length, 1, stderr)
    t.regex(errors[0] ?? '', another)
    t.regex(errors[0] ?? '', /could not be printed.*ENOSPC/)
  }
  const closed = lossOf('forge admin users set ada --reset-password')[1]
  const { stderr } = await inShell(t, forge, closed?.script ?? '')
  t.regex(stderr, /could not be printed.*EPIPE.*\ncode 74\n$/s)
})

test('recovery codes that could not be printed are named', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t)
  const { body } = await forge.call<{ secret: string }>('POST', '/api/auth/totp', {
    body: { password: adminPassword },
  })
  const code = newCode(body.secret)
  const lost = await inShell(t, forge, `forge account totp confirm ${code} > /dev/full`)
  t.is(lost.code, 74, lost.stderr)
  t.regex(lost.stderr, /recovery codes could not be printed: forge account totp set-up makes/)
})

test('a password that reset-password could not print is named, with the way to another one', async t => {
  t.timeout(patient(120_000))
  const forge = await startForge(t)
  const database = String(forge.pool.options.connectionString)
  const { code, stderr } = await inShell(
    t,
    forge,
    `export SERVICE_DATABASE_URL='${database}'; forge admin reset-password > /dev/full`,
  )
  t.is(code, 1)
  t.regex(stderr, /password of admin was changed, but the new one could not be printed \(ENOSPC/)
})
