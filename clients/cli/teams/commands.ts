import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  describeTeamGroup,
  describeTeamMemberRemove,
  describeTeamMemberSet,
  teamGroup,
  teamMemberRemove,
  teamMemberSet,
} from './members.ts'
import { describeTeamMove, describeTeamTakeOut, teamMove, teamTakeOut } from './projects.ts'
import {
  describeTeamCreate,
  describeTeamLeave,
  describeTeamList,
  describeTeamPool,
  describeTeamRemove,
  describeTeamSet,
  describeTeamShow,
  teamCreate,
  teamLeave,
  teamList,
  teamPool,
  teamRemove,
  teamSet,
  teamShow,
} from './teams.ts'

/** `forge team …`: who owns projects, pools and budgets together. */
export function addTeams(program: Command, world: World, ended: (code: number) => void): void {
  const team = program.command('team').description('teams, their members, projects and pools')
  const members = team.command('members').description('who may do what in a team')
  speakingIn(
    team,
    world,
    ended,
  )({
    create: [describeTeamCreate, teamCreate],
    list: [describeTeamList, teamList],
    show: [describeTeamShow, teamShow],
    set: [describeTeamSet, teamSet],
    pool: [describeTeamPool, teamPool],
    move: [describeTeamMove, teamMove],
    'take-out': [describeTeamTakeOut, teamTakeOut],
    group: [describeTeamGroup, teamGroup],
    leave: [describeTeamLeave, teamLeave],
    rm: [describeTeamRemove, teamRemove],
  })
  speakingIn(
    members,
    world,
    ended,
  )({
    set: [describeTeamMemberSet, teamMemberSet],
    remove: [describeTeamMemberRemove, teamMemberRemove],
  })
}
