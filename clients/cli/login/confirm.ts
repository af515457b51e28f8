import { confirmWith } from '../api/confirmed.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import {
  type CommonOptions,
  codeQuestion,
  type Flags,
  openSignedIn,
  type World,
} from '../program/session.ts'
import { ask } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'
import { passwordAndCode } from './by-password.ts'

type ConfirmOptions = CommonOptions & Flags<'passwordStdin'>

export const describeConfirm = describe({
  text: 'confirm your password, for commands that need a sign-in of the last 15 minutes',
  options: {
    '--password-stdin':
      'read the password from standard input, and the code of a second factor from its second line',
  },
})

export async function confirm(world: World, options: ConfirmOptions): Promise<ExitCode> {
  const { api, terminal, isJson, process } = await openSignedIn(world, options)
  const [password, code] = options.passwordStdin
    ? await passwordAndCode(process)
    : [await ask(process, 'Password: ', '--password-stdin', { isHidden: true }), null]
  const reply = await confirmWith(
    { password, ...(code !== null && { code }) },
    {
      askCode: () => ask(process, codeQuestion, '--password-stdin'),
      confirm: proof => api.post('/api/auth/confirm', proof),
    },
  )
  if (isJson) terminal.data(toJson(reply))
  else terminal.note('Confirmed; no command asks for the password during the next 15 minutes')
  return exitCode.ok
}
