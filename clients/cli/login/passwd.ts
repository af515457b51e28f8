import type { Api } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import type { Process } from '../program/process.ts'
import { type CommonOptions, type Flags, openSignedIn, type World } from '../program/session.ts'
import { ask, linesOfStdin } from '../terminal/ask.ts'

type PasswdOptions = CommonOptions & Flags<'passwordsStdin'>

export const describePasswd = describe({
  text: 'change your own password; your other sessions end',
  options: {
    '--passwords-stdin': 'read the current and the new password from two lines of standard input',
  },
})

export async function passwd(world: World, options: PasswdOptions): Promise<ExitCode> {
  const { api, terminal, isJson, process } = await openSignedIn(world, options)
  const change = options.passwordsStdin ? await read(process) : await askFor(process)
  await api.post('/api/auth/password', change)
  if (isJson) terminal.data(JSON.stringify({ ok: true }))
  else terminal.note('Your password is changed; your other sessions have ended')
  return exitCode.ok
}

type Change = { current: string; new: string }

async function read(process: Process): Promise<Change> {
  const [current = '', wanted = ''] = await linesOfStdin(process)
  if (current === '' || wanted === '')
    throw usageFailure('Standard input must have two lines: the current and the new password')
  return { current, new: wanted }
}

async function askFor(process: Process): Promise<Change> {
  const hidden = (question: string) =>
    ask(process, question, '--passwords-stdin', { isHidden: true })
  return { current: await hidden('Current password: '), new: await askForNew(process) }
}

async function askForNew(process: Process): Promise<string> {
  const hidden = (question: string) =>
    ask(process, question, '--passwords-stdin', { isHidden: true })
  const wanted = await hidden('New password: ')
  if (wanted !== (await hidden('New password again: ')))
    throw usageFailure('The new passwords are not the same; nothing was changed')
  return wanted
}

type Person = { api: Api; terminal: World['terminal']; process: Process }

/**
 * At the first sign-in with a generated password: asks for one that only its person knows. `current`: null if nobody can be asked.
 */
export async function replaceGenerated(
  { api, terminal, process }: Person,
  current: string | null,
): Promise<void> {
  const me = await api.get<{ must_change_password: boolean }>('/api/auth/me')
  if (!me.must_change_password) return
  terminal.note('Your password was generated for you; replace it with one that only you know.')
  if (current === null) {
    terminal.note('Nothing else is permitted until then: forge passwd')
    return
  }
  await api.post('/api/auth/password', { current, new: await askForNew(process) })
  terminal.note('Your password is changed')
}
