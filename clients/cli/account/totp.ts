import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { printSecret } from '../program/print-secret.ts'
import type { Process } from '../program/process.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from '../program/session.ts'
import { ask, firstLineOfStdin } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'
import { qrCode } from './qr-code.ts'

type SecondFactor = {
  is_available: boolean
  set_up_at: string | null
  passkeys: number
  recovery_codes_left: number
  must_set_up: boolean
}
type Begun = { secret: string; otpauth_url: string }
type SetUp = { recovery_codes: string[] }
type PasswordOptions = CommonOptions & Flags<'passwordStdin'>

const path = '/api/auth/totp'
const passwordOption = { '--password-stdin': 'read your password from standard input' }

export const describeTotpStatus = describe({
  text: 'which second factors you have, and how many recovery codes are left',
})

export async function totpStatus(world: World, options: CommonOptions): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { second_factor } = await api.get<{ second_factor: SecondFactor }>('/api/auth/me')
  if (isJson) terminal.data(toJson(second_factor))
  else terminal.data(inWords(second_factor))
  return exitCode.ok
}

function inWords(factor: SecondFactor): string {
  if (!factor.is_available) return 'Your identity provider asks for second factors'
  const { set_up_at, passkeys, recovery_codes_left } = factor
  if (set_up_at !== null || passkeys > 0) {
    const app = set_up_at === null ? 'No authenticator' : `Set up at ${set_up_at}`
    return `${app}; passkeys: ${passkeys}; recovery codes left: ${recovery_codes_left}`
  }
  return factor.must_set_up
    ? 'None, but this installation requires one: forge account totp set-up, or a passkey at /settings'
    : 'None; forge account totp set-up'
}

export const describeTotpSetUp = describe({
  text: 'set up an authenticator app as your second factor, or another one in its place; your other sessions end',
  options: passwordOption,
  after:
    '\nAsks for the first code on a terminal. Elsewhere, forge account totp confirm CODE follows.',
})

export async function totpSetUp(world: World, options: PasswordOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson, process } = session
  const begun = await api.post<Begun>(path, { password: await passwordOf(process, options) })
  const lost = 'The key could not be printed, and nothing has changed: run this command again'
  if (isJson) await printSecret(session, [toJson(begun)], lost)
  else for (const line of instructions(begun, process)) terminal.note(line)
  if (options.passwordStdin || isJson) return exitCode.ok
  const code = await ask(process, 'Code that it shows: ', '--password-stdin')
  return finish(session, code)
}

function instructions({ secret, otpauth_url }: Begun, { stderr }: Process): string[] {
  return [
    ...(stderr.isTTY
      ? [
          'Add Forge to your authenticator app: scan this code, or enter the key below it.',
          ...qrCode(otpauth_url),
        ]
      : [
          'Add Forge to your authenticator app with this key; then: forge account totp confirm CODE',
        ]),
    `key: ${secret.match(/.{1,4}/g)?.join(' ')}`,
    otpauth_url,
  ]
}

export const describeTotpConfirm = describe({
  text: 'finish setting up the authenticator with a code that it shows; prints the recovery codes, once',
  operands: { '<code>': '' },
})

export const totpConfirm = async (
  world: World,
  code: string,
  options: CommonOptions,
): Promise<ExitCode> => finish(await openSignedIn(world, options), code)

/** Only the recovery codes go to stdout. */
async function finish(session: Session, code: string): Promise<ExitCode> {
  const { api, terminal, isJson } = session
  const print = (lines: readonly string[]) =>
    printSecret(
      session,
      lines,
      'The second factor is set up, but its recovery codes could not be printed: forge account totp set-up makes new ones',
    )
  const answer = await api.post<SetUp>(`${path}/confirm`, { code })
  if (isJson) {
    await print([toJson(answer)])
    return exitCode.ok
  }
  terminal.note('The second factor is set up; your other sessions have ended.')
  terminal.note('Keep these recovery codes, shown only now. Each signs in once without the app:')
  await print(answer.recovery_codes)
  return exitCode.ok
}

export const describeTotpRemove = describe({
  text: 'remove your authenticator app; the recovery codes go with your last second factor',
  options: passwordOption,
})

export async function totpRemove(world: World, options: PasswordOptions): Promise<ExitCode> {
  const { api, terminal, isJson, process } = await openSignedIn(world, options)
  const answer = await api.post(`${path}/remove`, {
    password: await passwordOf(process, options),
  })
  if (isJson) terminal.data(toJson(answer))
  else terminal.note('Your authenticator is removed')
  return exitCode.ok
}

const passwordOf = (process: Process, { passwordStdin }: PasswordOptions): Promise<string> =>
  passwordStdin
    ? firstLineOfStdin(process)
    : ask(process, 'Password: ', '--password-stdin', { isHidden: true })
