import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, type Flags, openSignedIn, type World } from '../program/session.ts'
import { ask, firstLineOfStdin } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'

type ConfirmOptions = CommonOptions & Flags<'passwordStdin'>

export const describeConfirm = describe({
  text: 'confirm your password, for commands that need a sign-in of the last 15 minutes',
  options: { '--password-stdin': 'read the password from standard input' },
})

export async function confirm(world: World, options: ConfirmOptions): Promise<ExitCode> {
  const { api, terminal, isJson, process } = await openSignedIn(world, options)
  const password = options.passwordStdin
    ? await firstLineOfStdin(process)
    : await ask(process, 'Password: ', '--password-stdin', { isHidden: true })
  const reply = await api.post('/api/auth/confirm', { password })
  if (isJson) terminal.data(toJson(reply))
  else terminal.note('Confirmed; no command asks for the password during the next 15 minutes')
  return exitCode.ok
}
