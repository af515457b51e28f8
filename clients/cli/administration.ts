import type { Command } from 'commander'
import {
  describeProjections,
  describeRebuild,
  describeRotateKeys,
  projections,
  rebuild,
  rotateKeys,
} from './commands/admin.ts'
import {
  auditDiff,
  auditList,
  auditState,
  auditVerify,
  describeAuditDiff,
  describeAuditList,
  describeAuditState,
  describeAuditVerify,
} from './commands/audit.ts'
import {
  describeMaintenanceOff,
  describeMaintenanceOn,
  describeMaintenanceStatus,
  maintenanceOff,
  maintenanceOn,
  maintenanceStatus,
} from './commands/maintenance.ts'
import { describeQuotaGet, describeQuotaSet, quotaGet, quotaSet } from './commands/quota.ts'
import {
  describeUserAdd,
  describeUserDisable,
  describeUserEnable,
  describeUserList,
  describeUserSet,
  userAdd,
  userDisable,
  userEnable,
  userList,
  userSet,
} from './commands/users.ts'
import type { World } from './session.ts'
import { type Describe, speakingOf } from './speaking.ts'

type Ended = (code: number) => void

/** `forge admin …`: commands for administrators. */
export function addAdministration(program: Command, world: World, ended: Ended): void {
  const admin = program.command('admin').description('look after the server')
  const speaking = (name: string, describe: Describe) => speakingOf(admin, name, describe)
  addUsers(admin.command('users').description('the people who may sign in'), world, ended)
  addQuotas(admin.command('quota').description('what a user may hold'), world, ended)
  addMaintenance(
    admin.command('maintenance').description('turn everybody away for a while'),
    world,
    ended,
  )
  speaking('projections', describeProjections).action(async options =>
    ended(await projections(world, options)),
  )
  speaking('rebuild', describeRebuild).action(async (name, options) =>
    ended(await rebuild(world, name, options)),
  )
  speaking('rotate-keys', describeRotateKeys).action(async options =>
    ended(await rotateKeys(world, options)),
  )
}

function addUsers(users: Command, world: World, ended: Ended): void {
  const speaking = (name: string, describe: Describe) => speakingOf(users, name, describe)
  speaking('list', describeUserList).action(async options => ended(await userList(world, options)))
  speaking('add', describeUserAdd).action(async (name, options) =>
    ended(await userAdd(world, name, options)),
  )
  speaking('set', describeUserSet).action(async (name, options) =>
    ended(await userSet(world, name, options)),
  )
  speaking('disable', describeUserDisable).action(async (name, options) =>
    ended(await userDisable(world, name, options)),
  )
  speaking('enable', describeUserEnable).action(async (name, options) =>
    ended(await userEnable(world, name, options)),
  )
}

function addQuotas(quota: Command, world: World, ended: Ended): void {
  const speaking = (name: string, describe: Describe) => speakingOf(quota, name, describe)
  speaking('get', describeQuotaGet).action(async (name, options) =>
    ended(await quotaGet(world, name, options)),
  )
  speaking('set', describeQuotaSet).action(async (name, options) =>
    ended(await quotaSet(world, name, options)),
  )
}

function addMaintenance(maintenance: Command, world: World, ended: Ended): void {
  const speaking = (name: string, describe: Describe) => speakingOf(maintenance, name, describe)
  speaking('on', describeMaintenanceOn).action(async options =>
    ended(await maintenanceOn(world, options)),
  )
  speaking('off', describeMaintenanceOff).action(async options =>
    ended(await maintenanceOff(world, options)),
  )
  speaking('status', describeMaintenanceStatus).action(async options =>
    ended(await maintenanceStatus(world, options)),
  )
}

/** `forge audit …`: who did what, and whether the record is intact. */
export function addAudit(program: Command, world: World, ended: Ended): void {
  const audit = program
    .command('audit')
    .description('who did what, and whether the record is whole')
  const speaking = (name: string, describe: Describe) => speakingOf(audit, name, describe)
  speaking('list', describeAuditList).action(async options =>
    ended(await auditList(world, options)),
  )
  speaking('state', describeAuditState).action(async (target, options) =>
    ended(await auditState(world, target, options)),
  )
  speaking('diff', describeAuditDiff).action(async (target, options) =>
    ended(await auditDiff(world, target, options)),
  )
  speaking('verify', describeAuditVerify).action(async options =>
    ended(await auditVerify(world, options)),
  )
}
