import type { Command } from 'commander'
import { speakingIn } from '../program/add-commands.ts'
import type { World } from '../program/session.ts'
import {
  deployCreate,
  deployList,
  deployRemove,
  deployRevise,
  deployShow,
  describeDeployCreate,
  describeDeployList,
  describeDeployRemove,
  describeDeployRevise,
  describeDeployShow,
} from './deployments.ts'
import { deployHistory, describeDeployHistory } from './history.ts'
import { deployLogs, describeDeployLogs } from './logs.ts'
import {
  deployPromote,
  deployResume,
  deployRollback,
  deploySuspend,
  describeDeployPromote,
  describeDeployResume,
  describeDeployRollback,
  describeDeploySuspend,
} from './pointer.ts'
import { deploySet, describeDeploySet } from './set.ts'
import {
  describeTokenList,
  describeTokenNew,
  describeTokenRevoke,
  tokenList,
  tokenNew,
  tokenRevoke,
} from './tokens.ts'
import { deployTraffic, describeDeployTraffic } from './traffic.ts'

/** `forge deploy …`: models that are served, their revisions and tokens. */
export function addDeployments(
  program: Command,
  world: World,
  ended: (code: number) => void,
): void {
  const deploy = program.command('deploy').description('serve models at a permanent address')
  const speaking = speakingIn(deploy, world, ended)
  speaking({
    ls: [describeDeployList, deployList],
    show: [describeDeployShow, deployShow],
    create: [describeDeployCreate, deployCreate],
    revise: [describeDeployRevise, deployRevise],
    promote: [describeDeployPromote, deployPromote],
    rollback: [describeDeployRollback, deployRollback],
    history: [describeDeployHistory, deployHistory],
    suspend: [describeDeploySuspend, deploySuspend],
    resume: [describeDeployResume, deployResume],
    rm: [describeDeployRemove, deployRemove],
    set: [describeDeploySet, deploySet],
    logs: [describeDeployLogs, deployLogs],
    traffic: [describeDeployTraffic, deployTraffic],
  })
  const token = deploy.command('token').description('who may use a deployment')
  const speakingOfTokens = speakingIn(token, world, ended)
  speakingOfTokens({
    new: [describeTokenNew, tokenNew],
    revoke: [describeTokenRevoke, tokenRevoke],
    list: [describeTokenList, tokenList],
  })
}
