import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  describeSecretList,
  describeSecretRemove,
  describeSecretSet,
  secretList,
  secretRemove,
  secretSet,
} from './secrets.ts'

/** `forge secret …`: values that only your own jobs receive. */
export function addSecrets(program: Command, world: World, ended: (code: number) => void): void {
  const secret = program
    .command('secret')
    .description('values that only your own jobs receive, such as tokens')
  speakingIn(
    secret,
    world,
    ended,
  )({
    ls: [describeSecretList, secretList],
    set: [describeSecretSet, secretSet],
    rm: [describeSecretRemove, secretRemove],
  })
}
