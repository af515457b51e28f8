import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  describePasskeyList,
  describePasskeyRemove,
  passkeyList,
  passkeyRemove,
} from './passkeys.ts'
import {
  describeTotpConfirm,
  describeTotpRemove,
  describeTotpSetUp,
  describeTotpStatus,
  totpConfirm,
  totpRemove,
  totpSetUp,
  totpStatus,
} from './totp.ts'

/** `forge account …`: how you sign in yourself. */
export function addAccount(program: Command, world: World, ended: (code: number) => void): void {
  const account = program.command('account').description('how you sign in')
  const totp = account
    .command('totp')
    .description('your second factor: codes of an authenticator besides the password')
  speakingIn(
    totp,
    world,
    ended,
  )({
    status: [describeTotpStatus, totpStatus],
    'set-up': [describeTotpSetUp, totpSetUp],
    confirm: [describeTotpConfirm, totpConfirm],
    remove: [describeTotpRemove, totpRemove],
  })
  const passkeys = account
    .command('passkeys')
    .description('your passkeys, which sign you in alone or as the second step')
  speakingIn(
    passkeys,
    world,
    ended,
  )({
    list: [describePasskeyList, passkeyList],
    remove: [describePasskeyRemove, passkeyRemove],
  })
}
