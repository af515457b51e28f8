import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import { removeVersion, versionRemoval } from '../program/remove-version.ts'
import type { World } from '../program/session.ts'
import {
  describeEnvironmentList,
  describeEnvironmentLog,
  describeEnvironmentShow,
  environmentList,
  environmentLog,
  environmentShow,
} from './environments.ts'
import { describeEnvironmentPush, environmentPush } from './push.ts'
import { pathOfVersion } from './reference.ts'
import { describeEnvironmentTest, environmentTest } from './test.ts'

/** `forge env RUN` shows the software of a run; `forge env push` and so on are about RL environments. */
export function addEnvironments(
  program: Command,
  world: World,
  ended: (code: number) => void,
): void {
  const command = program.commands.find(one => one.name() === 'env')
  if (!command) return
  speakingIn(
    command,
    world,
    ended,
  )({
    ls: [describeEnvironmentList, environmentList],
    show: [describeEnvironmentShow, environmentShow],
    test: [describeEnvironmentTest, environmentTest],
    push: [describeEnvironmentPush, environmentPush],
    log: [describeEnvironmentLog, environmentLog],
    rm: [versionRemoval('OWNER/NAME@0.2.1'), removeVersion(pathOfVersion)],
  })
}
