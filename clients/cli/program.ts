import { Command, type OutputConfiguration } from 'commander'
import { addAdministration, addAudit } from './administration.ts'
import { clone, describeClone, describeRetry, retry } from './commands/again.ts'
import { alerts, describeAlerts } from './commands/alerts.ts'
import {
  artifacts,
  artifactsGet,
  describeArtifacts,
  describeArtifactsGet,
} from './commands/artifacts.ts'
import { artifactsRemove, describeArtifactsRemove } from './commands/artifacts-remove.ts'
import { benchmarks, describeBenchmarks } from './commands/benchmarks.ts'
import { chat, describeChat } from './commands/chat.ts'
import { compare, describeCompare } from './commands/compare.ts'
import {
  complete,
  completion,
  describeComplete,
  describeCompletion,
} from './commands/completion.ts'
import {
  contextList,
  contextRemove,
  contextUse,
  describeContextList,
  describeContextRemove,
  describeContextUse,
} from './commands/context.ts'
import { deleteRuns, describeDelete, describeRestore, restoreRuns } from './commands/delete.ts'
import { describeDiagnose, diagnose } from './commands/diagnose.ts'
import { describeEnv, env } from './commands/env.ts'
import { describeHardware, hardware } from './commands/hardware.ts'
import { describeLineage, lineage } from './commands/lineage.ts'
import { describeLogin, login } from './commands/login.ts'
import { describeLogout, logout } from './commands/logout.ts'
import { describeLogs, logs } from './commands/logs.ts'
import { describeMetrics, metrics } from './commands/metrics.ts'
import { describeNotifications, notifications } from './commands/notifications.ts'
import { describePasswd, passwd } from './commands/passwd.ts'
import { describePause, describeResume, pause, resume } from './commands/pause.ts'
import { describePlan, plan } from './commands/plan.ts'
import { describePs, ps } from './commands/ps.ts'
import { describeQueue, describeQueueExplain, queueExplain, queueList } from './commands/queue.ts'
import { describeRun, run } from './commands/run.ts'
import { describeSamples, samples } from './commands/samples.ts'
import { describeServe, serve } from './commands/serve.ts'
import { describeSet, set } from './commands/set.ts'
import { describeShow, show } from './commands/show.ts'
import { describeStop, stop } from './commands/stop.ts'
import { describeSubmit, submit } from './commands/submit.ts'
import { describeSync, sync } from './commands/sync.ts'
import { describeUsage, usage } from './commands/usage.ts'
import { describeWatch, watch } from './commands/watch.ts'
import { describeWhoami, whoami } from './commands/whoami.ts'
import { addDeployments } from './deploy.ts'
import { addModels } from './models.ts'
import type { Output } from './process.ts'
import { addProjects } from './projects.ts'
import { addRecipes } from './recipes.ts'
import type { World } from './session.ts'
import { speakingIn } from './speaking.ts'
import { version } from './version.ts'

type Ended = (code: number) => void

/** All commands. `ended` receives the exit code. */
export function createProgram(world: World, ended: Ended): Command {
  const program = emptyProgram(world)
  const speaking = speakingIn(program, world, ended)

  speaking('login', describeLogin, login)
  speaking('logout', describeLogout, logout)
  speaking('passwd', describePasswd, passwd)
  speaking('whoami', describeWhoami, whoami)
  speaking('plan', describePlan, plan)
  speaking('submit', describeSubmit, submit)
  speaking('ps', describePs, ps)
  speaking('show', describeShow, show)
  speaking('watch', describeWatch, watch)
  speaking('logs', describeLogs, logs)
  speaking('metrics', describeMetrics, metrics)
  speaking('compare', describeCompare, compare)
  speaking('samples', describeSamples, samples)
  speaking('lineage', describeLineage, lineage)
  speaking('hardware', describeHardware, hardware)
  speaking('env', describeEnv, env)
  speaking('alerts', describeAlerts, alerts)
  speaking('benchmarks', describeBenchmarks, benchmarks)
  speaking('stop', describeStop, stop)
  speaking('pause', describePause, pause)
  speaking('resume', describeResume, resume)
  speaking('retry', describeRetry, retry)
  speaking('clone', describeClone, clone)
  speaking('diagnose', describeDiagnose, diagnose)
  speaking('set', describeSet, set)
  speaking('delete', describeDelete, deleteRuns)
  speaking('restore', describeRestore, restoreRuns)
  speaking('notifications', describeNotifications, notifications)
  speaking('usage', describeUsage, usage)
  speaking('chat', describeChat, chat)
  speaking('run', describeRun, run)
  describeSync(program.command('sync')).action(async runs => ended(await sync(world, runs)))
  describeServe(program.command('serve')).action(async options =>
    ended(await serve(world, options)),
  )
  describeCompletion(program.command('completion')).action(shell => ended(completion(world, shell)))
  describeComplete(program.command('__complete', { hidden: true })).action(async words =>
    ended(await complete(world, program, words)),
  )
  addContexts(program, world, ended)
  addProjects(program, world, ended)
  addRecipes(program, world, ended)
  addDeployments(program, world, ended)
  addModels(program, world, ended)
  addArtifacts(program, world, ended)
  addQueue(program, world, ended)
  addAdministration(program, world, ended)
  addAudit(program, world, ended)
  return program
}

/** Its commands inherit these settings. */
const emptyProgram = (world: World): Command =>
  new Command('forge')
    .description('Train models on your own machines: submit, watch, stop.')
    .version(version)
    // Options after a command belong to that command: forge run CMD --flag
    .enablePositionalOptions()
    .showHelpAfterError('(forge --help lists the commands)')
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: 20 })
    .addHelpText('after', epilogue)
    .exitOverride()
    .configureOutput(outputOf(world))

/** Help and faults of usage go where everything of the command goes. */
function outputOf({ process: { stdout, stderr } }: World): OutputConfiguration {
  return {
    writeOut: text => void stdout.write(text),
    writeErr: text => void stderr.write(text),
    getOutHelpWidth: () => widthOf(stdout),
    getErrHelpWidth: () => widthOf(stderr),
  }
}

const widthOf = ({ isTTY, columns }: Output) => (isTTY && columns) || 80

/** `forge artifacts RUN` lists; `forge artifacts get` fetches one, `rm` deletes. */
function addArtifacts(program: Command, world: World, ended: Ended): void {
  speakingIn(program, world, ended)('artifacts', describeArtifacts, artifacts)
  const command = program.commands.find(one => one.name() === 'artifacts')
  if (!command) return
  speakingIn(command, world, ended)('get', describeArtifactsGet, artifactsGet)
  speakingIn(command, world, ended)('rm', describeArtifactsRemove, artifactsRemove)
}

/** `forge queue` lists; `forge queue explain RUN` tells of one job. */
function addQueue(program: Command, world: World, ended: Ended): void {
  speakingIn(program, world, ended)('queue', describeQueue, queueList)
  const queue = program.commands.find(command => command.name() === 'queue')
  if (queue) speakingIn(queue, world, ended)('explain', describeQueueExplain, queueExplain)
}

function addContexts(program: Command, world: World, ended: Ended): void {
  const context = program.command('context').description('the servers you are signed in at')
  const local = (command: Command) => command.option('--json', 'print JSON')
  local(describeContextList(context.command('list'))).action(async options =>
    ended(await contextList(world, options)),
  )
  local(describeContextUse(context.command('use'))).action(async (name, options) =>
    ended(await contextUse(world, name, options)),
  )
  local(describeContextRemove(context.command('remove'))).action(async (name, options) =>
    ended(await contextRemove(world, name, options)),
  )
}

const epilogue = `
Exit codes: 0 ok, 1 the job failed, 2 usage, 3 refused, 4 not signed in or not allowed, 5 conflict,
6 the server is unavailable, 130 interrupted.
FORGE_HOST and FORGE_TOKEN override what forge login stored. NO_COLOR turns colours off.`
