import { Command, type OutputConfiguration } from 'commander'
import { addAccount } from '../account/commands.ts'
import { addAdministration } from '../admin/commands.ts'
import { addAnnotations } from '../annotations/commands.ts'
import { addApprovals } from '../approvals/commands.ts'
import {
  artifacts,
  artifactsGet,
  describeArtifacts,
  describeArtifactsGet,
} from '../artifacts/artifacts.ts'
import { artifactsRemove, describeArtifactsRemove } from '../artifacts/remove.ts'
import { addAudit } from '../audit/commands.ts'
import { addBenchmarks } from '../benchmarks/commands.ts'
import { bill, describeBill } from '../billing/bill.ts'
import { addBudgets } from '../billing/commands.ts'
import { chat, describeChat } from '../chat/chat.ts'
import { addDatasets } from '../datasets/commands.ts'
import { addDeployments } from '../deployments/commands.ts'
import { describeDiagnoses, diagnoses } from '../diagnoses/diagnoses.ts'
import { addEnvironments } from '../environments/commands.ts'
import { describeRun, run } from '../external-runs/run.ts'
import { describeSync, sync } from '../external-runs/sync.ts'
import { addHub } from '../hub/commands.ts'
import { describePause, describeResume, pause, resume } from '../jobs/pause.ts'
import { describePlan, plan } from '../jobs/plan.ts'
import { clone, describeClone, describeRetry, retry } from '../jobs/retry.ts'
import { describeStop, stop } from '../jobs/stop.ts'
import { describeSubmit, submit } from '../jobs/submit.ts'
import { describeLineage, lineage } from '../lineage/lineage.ts'
import { confirm, describeConfirm } from '../login/confirm.ts'
import {
  contextList,
  contextRemove,
  contextUse,
  describeContextList,
  describeContextRemove,
  describeContextUse,
} from '../login/context.ts'
import { describeLogin, login } from '../login/login.ts'
import { describeLogout, logout } from '../login/logout.ts'
import { describePasswd, passwd } from '../login/passwd.ts'
import { describeWhoami, whoami } from '../login/whoami.ts'
import { addModels } from '../models/commands.ts'
import { describeNotifications, notifications } from '../notifications/notifications.ts'
import {
  describePlanCancel,
  describePlanList,
  describePlanShow,
  describePlanSubmit,
  planCancel,
  planList,
  planShow,
  planSubmit,
} from '../plans/plans.ts'
import { describeSweep, sweep } from '../plans/sweep.ts'
import { addProjects } from '../projects/commands.ts'
import { describeQueue, describeQueueExplain, queueExplain, queueList } from '../queue/queue.ts'
import { addRecipes } from '../recipes/commands.ts'
import { addReflows } from '../reflows/commands.ts'
import { addRubrics } from '../rubrics/commands.ts'
import { alerts, describeAlerts } from '../runs/alerts.ts'
import { benchmarks, describeBenchmarks } from '../runs/benchmarks.ts'
import { compare, describeCompare } from '../runs/compare.ts'
import { deleteRuns, describeDelete, describeRestore, restoreRuns } from '../runs/delete.ts'
import { describeDiagnose, diagnose } from '../runs/diagnose.ts'
import { describeEnv, env } from '../runs/env.ts'
import { describeHardware, hardware } from '../runs/hardware.ts'
import { describeLogs, logs } from '../runs/logs.ts'
import { describeMetrics, metrics } from '../runs/metrics.ts'
import { describeNote, note } from '../runs/note.ts'
import { describePs, ps } from '../runs/ps.ts'
import { describeSamples, samples } from '../runs/samples.ts'
import { describeSet, set } from '../runs/set.ts'
import { describeShow, show } from '../runs/show.ts'
import { describeWatch, watch } from '../runs/watch.ts'
import { describeSearch, search } from '../search/search.ts'
import { addSecrets } from '../secrets/commands.ts'
import { addTeams } from '../teams/commands.ts'
import { describeUsage, usage } from '../usage/usage.ts'
import { addVolumes } from '../volumes/commands.ts'
import { acceptCommonOptionsBefore, optionsOf, speakingIn } from './add-commands.ts'
import { complete, completion, describeComplete, describeCompletion } from './completion.ts'
import type { Output } from './process.ts'
import { describeServe, serve } from './serve.ts'
import type { World } from './session.ts'
import { version } from './version.ts'

type Ended = (code: number) => void

/** All commands. `ended` receives the exit code. */
export function createProgram(world: World, ended: Ended): Command {
  const program = emptyProgram(world)
  const speaking = speakingIn(program, world, ended)

  speaking({
    login: [describeLogin, login],
    logout: [describeLogout, logout],
    passwd: [describePasswd, passwd],
    confirm: [describeConfirm, confirm],
    whoami: [describeWhoami, whoami],
    submit: [describeSubmit, submit],
    sweep: [describeSweep, sweep],
    ps: [describePs, ps],
    show: [describeShow, show],
    watch: [describeWatch, watch],
    logs: [describeLogs, logs],
    metrics: [describeMetrics, metrics],
    compare: [describeCompare, compare],
    samples: [describeSamples, samples],
    lineage: [describeLineage, lineage],
    search: [describeSearch, search],
    hardware: [describeHardware, hardware],
    env: [describeEnv, env],
    alerts: [describeAlerts, alerts],
    benchmarks: [describeBenchmarks, benchmarks],
    stop: [describeStop, stop],
    pause: [describePause, pause],
    resume: [describeResume, resume],
    retry: [describeRetry, retry],
    clone: [describeClone, clone],
    diagnose: [describeDiagnose, diagnose],
    diagnoses: [describeDiagnoses, diagnoses],
    set: [describeSet, set],
    note: [describeNote, note],
    delete: [describeDelete, deleteRuns],
    restore: [describeRestore, restoreRuns],
    notifications: [describeNotifications, notifications],
    bill: [describeBill, bill],
    usage: [describeUsage, usage],
    chat: [describeChat, chat],
    run: [describeRun, run],
  })
  describeSync(program.command('sync')).action(async runs => ended(await sync(world, runs)))
  describeServe(program.command('serve')).action(async options =>
    ended(await serve(world, options)),
  )
  describeCompletion(program.command('completion')).action(shell => ended(completion(world, shell)))
  describeComplete(program.command('__complete', { hidden: true })).action(async words =>
    ended(await complete(world, program, words)),
  )
  for (const add of nouns) add(program, world, ended)
  acceptCommonOptionsBefore(program)
  return program
}

/** Each adds the commands of a noun, in the order of the help. */
const nouns = [
  addContexts,
  addProjects,
  addTeams,
  addRecipes,
  addDeployments,
  addModels,
  addDatasets,
  addVolumes,
  addEnvironments,
  addArtifacts,
  addPlan,
  addQueue,
  addBenchmarks,
  addApprovals,
  addBudgets,
  addAnnotations,
  addReflows,
  addRubrics,
  addHub,
  addSecrets,
  addAccount,
  addAdministration,
  addAudit,
] as const

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

/** Help and usage errors go to the same streams as all other output. */
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
  speakingIn(program, world, ended)({ artifacts: [describeArtifacts, artifacts] })
  const command = program.commands.find(one => one.name() === 'artifacts')
  if (!command) return
  speakingIn(command, world, ended)({ get: [describeArtifactsGet, artifactsGet] })
  speakingIn(command, world, ended)({ rm: [describeArtifactsRemove, artifactsRemove] })
}

/** `forge plan` checks a job; `forge plan ls`, `show`, `submit` and `cancel` are about kept plans. */
function addPlan(program: Command, world: World, ended: Ended): void {
  speakingIn(program, world, ended)({ plan: [describePlan, plan] })
  const command = program.commands.find(one => one.name() === 'plan')
  if (!command) return
  speakingIn(
    command,
    world,
    ended,
  )({
    ls: [describePlanList, planList],
    show: [describePlanShow, planShow],
    submit: [describePlanSubmit, planSubmit],
    cancel: [describePlanCancel, planCancel],
  })
}

/** `forge queue` lists; `forge queue explain RUN` explains one job. */
function addQueue(program: Command, world: World, ended: Ended): void {
  speakingIn(program, world, ended)({ queue: [describeQueue, queueList] })
  const queue = program.commands.find(command => command.name() === 'queue')
  if (queue) speakingIn(queue, world, ended)({ explain: [describeQueueExplain, queueExplain] })
}

function addContexts(program: Command, world: World, ended: Ended): void {
  const context = program.command('context').description('the servers you are signed in at')
  const local = (command: Command) => command.option('--json', 'print JSON')
  local(describeContextList(context.command('list'))).action(async (_, command) =>
    ended(await contextList(world, optionsOf(command))),
  )
  local(describeContextUse(context.command('use'))).action(async (name, _, command) =>
    ended(await contextUse(world, name, optionsOf(command))),
  )
  local(describeContextRemove(context.command('remove'))).action(async (name, _, command) =>
    ended(await contextRemove(world, name, optionsOf(command))),
  )
}

const epilogue = `
Exit codes: 0 ok, 1 the job failed, 2 usage, 3 refused, 4 not signed in or not allowed, 5 conflict,
6 the server is unavailable, 74 the output cannot be written, 130 interrupted.
--host, --context and --json may also stand before the command: forge --context work ps.
FORGE_HOST and FORGE_TOKEN override what forge login stored. NO_COLOR turns colours off.`
