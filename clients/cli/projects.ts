import type { Command } from 'commander'
import {
  describeMemberAdd,
  describeMemberRemove,
  describeProjectList,
  describeProjectSet,
  describeProjectShow,
  memberAdd,
  memberRemove,
  projectList,
  projectSet,
  projectShow,
} from './commands/projects.ts'
import type { World } from './session.ts'
import { type Describe, speakingOf } from './speaking.ts'

/** `forge projects …`: visibility and members. */
export function addProjects(program: Command, world: World, ended: (code: number) => void): void {
  const projects = program.command('projects').description('what runs belong to, and its people')
  const members = projects.command('members').description('who may do what in a project')
  const speaking = (name: string, describe: Describe) => speakingOf(projects, name, describe)
  speaking('list', describeProjectList).action(async options =>
    ended(await projectList(world, options)),
  )
  speaking('show', describeProjectShow).action(async (name, options) =>
    ended(await projectShow(world, name, options)),
  )
  speaking('set', describeProjectSet).action(async (name, options) =>
    ended(await projectSet(world, name, options)),
  )
  speakingOf(members, 'add', describeMemberAdd).action(async (name, username, options) =>
    ended(await memberAdd(world, [name, username], options)),
  )
  speakingOf(members, 'remove', describeMemberRemove).action(async (name, username, options) =>
    ended(await memberRemove(world, [name, username], options)),
  )
}
