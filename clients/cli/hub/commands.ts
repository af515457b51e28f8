import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  describeHubImport,
  describeHubList,
  describeHubRemove,
  hubImport,
  hubList,
  hubRemove,
} from './hub.ts'
import { describeHubPush, describeHubPushes, hubPush, hubPushes } from './push.ts'

/** `forge hub …`: models that are imported from the model hub, and sent to it. */
export function addHub(program: Command, world: World, ended: (code: number) => void): void {
  const hub = program
    .command('hub')
    .description('models imported from the model hub, and sent to it')
  speakingIn(
    hub,
    world,
    ended,
  )({
    import: [describeHubImport, hubImport],
    ls: [describeHubList, hubList],
    push: [describeHubPush, hubPush],
    pushes: [describeHubPushes, hubPushes],
    rm: [describeHubRemove, hubRemove],
  })
}
