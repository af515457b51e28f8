import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  approvalList,
  approvalShow,
  approve,
  describeApprovalList,
  describeApprovalShow,
  describeApprove,
  describeReject,
  reject,
} from './approvals.ts'
import {
  describeQuotaRequest,
  describeQuotaRequests,
  quotaRequest,
  quotaRequests,
} from './quota-requests.ts'

type Ended = (code: number) => void

/** `forge approve …` and `forge quota …`. */
export function addApprovals(program: Command, world: World, ended: Ended): void {
  const approvals = program.command('approve').description('what waits for somebody’s approval')
  speakingIn(
    approvals,
    world,
    ended,
  )({
    ls: [describeApprovalList, approvalList],
    show: [describeApprovalShow, approvalShow],
    yes: [describeApprove, approve],
    no: [describeReject, reject],
  })
  const quota = program.command('quota').description('ask for a higher quota')
  speakingIn(
    quota,
    world,
    ended,
  )({
    ls: [describeQuotaRequests, quotaRequests],
    request: [describeQuotaRequest, quotaRequest],
  })
}
