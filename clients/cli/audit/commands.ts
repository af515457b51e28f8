import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  auditDiff,
  auditList,
  auditState,
  auditVerify,
  describeAuditDiff,
  describeAuditList,
  describeAuditState,
  describeAuditVerify,
} from './audit.ts'

/** `forge audit …`: who did what, and whether the record is intact. */
export function addAudit(program: Command, world: World, ended: (code: number) => void): void {
  const audit = program
    .command('audit')
    .description('who did what, and whether the record is intact')
  speakingIn(
    audit,
    world,
    ended,
  )({
    list: [describeAuditList, auditList],
    state: [describeAuditState, auditState],
    diff: [describeAuditDiff, auditDiff],
    verify: [describeAuditVerify, auditVerify],
  })
}
