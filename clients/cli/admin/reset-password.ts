import { join } from 'node:path'
import { describe } from '../program/describe.ts'
import { runHere } from '../program/run-here.ts'
import type { Flags, World } from '../program/session.ts'

const program = join(import.meta.dirname, '../../../server/reset-password.ts')

export const describeResetPassword = describe({
  text: 'on the host of the server: generate a password for somebody; needs its data, but no sign-in',
  operands: { '[username]': 'the first administrator by default' },
  options: { '--remove-second-factor': 'for somebody who lost their authenticator as well' },
})

/** Runs in a child process with the settings of the server (SERVICE_*): the CLI itself only speaks HTTP. */
export const resetPassword = (
  world: World,
  username: string | undefined,
  { removeSecondFactor }: Flags<'removeSecondFactor'>,
): Promise<number> =>
  runHere(world, program, {
    args: [
      ...(removeSecondFactor ? ['--remove-second-factor'] : []),
      ...(username === undefined ? [] : ['--', username]),
    ],
  })
