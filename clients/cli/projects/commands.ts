import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
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
} from './projects.ts'
import { describeViewList, describeViewRemove, viewList, viewRemove } from './views.ts'

/** `forge projects …`: visibility, members and saved views. */
export function addProjects(program: Command, world: World, ended: (code: number) => void): void {
  const projects = program.command('projects').description('projects and their members')
  const members = projects.command('members').description('who may do what in a project')
  const views = projects.command('views').description('saved views of a project')
  const speaking = speakingIn(projects, world, ended)
  speaking({
    list: [describeProjectList, projectList],
    show: [describeProjectShow, projectShow],
    set: [describeProjectSet, projectSet],
  })
  const speakingOfMembers = speakingIn(members, world, ended)
  speakingOfMembers({
    add: [describeMemberAdd, memberAdd],
    remove: [describeMemberRemove, memberRemove],
  })
  const speakingOfViews = speakingIn(views, world, ended)
  speakingOfViews({
    list: [describeViewList, viewList],
    rm: [describeViewRemove, viewRemove],
  })
}
