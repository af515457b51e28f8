import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Api, createApi } from '../api/client.ts'
import { exitCode } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import { version } from '../program/version.ts'
import { sendAnnotations } from './data/annotations.ts'
import { sendApprovals } from './data/approvals.ts'
import { sendBudgets } from './data/budgets.ts'
import { sendDataset } from './data/datasets.ts'
import { sendEnvironment } from './data/environments.ts'
import { sendHubModel } from './data/hub-models.ts'
import { sendJobs } from './data/jobs.ts'
import { sendModels, suspendModels } from './data/models.ts'
import { firstPanels, type PlannedRun, people, plannedRuns } from './data/plan.ts'
import { sendPlan } from './data/plans.ts'
import { sendPlugins } from './data/plugins.ts'
import { sendReflows } from './data/reflows.ts'
import { defineBenchmark, type Sent, sendRun } from './data/send.ts'
import { sendTeams } from './data/teams.ts'
import { sendVolumes } from './data/volumes.ts'
import { commonArguments, demonstrateAndExit, readArguments, terminal } from './parts.ts'
import { admin, type DemoServer, startDemoServer } from './server.ts'

const usage = `npm run demo:data [-- options]

Starts a server of its own on this machine, fills it by its API with projects, people, runs of all kinds, a model
that it trains and serves, a dataset, two volumes, an RL environment, an annotation queue, a team, budgets, approval rules, a plan, and a few jobs, always the same, and keeps one of the runs reporting until Ctrl-C. All
times are current: a server accepts no others.

  --data DIR    where the server keeps its data, instead of .forge/demo-data here
  --port PORT   instead of a free one
  --runs COUNT  how many (60)
  --once        end when all is sent, and leave the server running`

/** Time to install the packages of a recipe, to train twice and to start two engines. */
const modelsWithinMs = 300_000

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())

await demonstrateAndExit(async () => {
  await fill(
    readArguments(usage, () =>
      parseArgs({
        options: {
          runs: { type: 'string', default: '60' },
          once: { type: 'boolean', default: false },
          ...commonArguments,
        },
      }),
    ),
  )
  return exitCode.ok
})

type Wanted = { data?: string; port: number | null; runs: string; once: boolean }

async function fill({ data, port, runs, once }: Wanted): Promise<void> {
  const { signal } = interrupted
  const server = await startDemoServer({
    dataDir: data ?? join(import.meta.dirname, '../../../.forge/demo-data'),
    port,
    onWait: reason => terminal.note(`  ${reason}`),
    signal,
  })
  let isLeft = false
  try {
    isLeft = await fillServer(server, { runs, once }, signal)
  } finally {
    if (!isLeft) await server.stop()
  }
}

/** Whether the server stays up afterwards. */
async function fillServer(
  server: DemoServer,
  { runs, once }: Pick<Wanted, 'runs' | 'once'>,
  signal: AbortSignal,
): Promise<boolean> {
  const connect = (token: string | null): Api =>
    createApi({
      ...{ host: server.url, token, userAgent: `forge-demo-data/${version}` },
      onSlow: reason => terminal.note(reason),
    })
  const root = connect(await signIn(connect, admin, server.password))
  let isLeft = false
  try {
    const moving = await sendAll(root, { connect, url: server.url }, plannedRuns(Number(runs)))
    terminal.note(`${server.url}: sign in as ${admin}, password ${server.password}`)
    isLeft = once && !signal.aborted
    if (!once && moving) await keepMoving(moving, signal)
  } finally {
    if (!isLeft) await suspendModels(root).catch(error => terminal.note(`  ${error.message}`))
  }
  return isLeft
}

type Connect = (token: string | null) => Api
type Made = { plan: PlannedRun; sent: Sent }

/** Returns a run that has not ended. */
async function sendAll(
  root: Api,
  { connect, url }: { connect: Connect; url: string },
  plans: readonly PlannedRun[],
): Promise<Sent | null> {
  const { signal } = interrupted
  const owners = await addPeople(root, connect)
  await defineBenchmark(root)
  const projects = new Set<string>()
  const made: Made[] = []
  for (const [nth, plan] of plans.entries()) {
    if (signal.aborted) break
    const sent = await sendRun(owners.get(plan.owner) ?? root, plan, connect)
    made.push({ plan, sent })
    if (!projects.has(plan.project)) await share(root, plan)
    projects.add(plan.project)
    if (nth % 10 === 9) terminal.note(`  ${nth + 1} of ${plans.length} runs`)
  }
  await sendBudgets(root, projects)
  await sendTeams(root, projects)
  await sendPlugins(root)
  await addAnnotations(root, owners, made)
  // Before the jobs, which hold all GPUs of the machine.
  if (projects.has('language')) await addModels(owners.get('lin') ?? root, url, signal)
  terminal.note('  an RL environment of two versions, of which the second fails')
  await sendEnvironment(owners.get('ada') ?? root, signal)
  await addJobs(root, owners, signal)
  // Last, because the jobs and aliases above would wait.
  await sendApprovals(root, owners, signal)
  return made.findLast(({ plan }) => plan.end === null)?.sent ?? null
}

async function addAnnotations(
  root: Api,
  owners: Map<string, Api>,
  made: readonly Made[],
): Promise<void> {
  const judged = made.find(({ plan }) => plan.rounds.length > 0 && plan.end !== null)
  if (!judged || interrupted.signal.aborted) return
  terminal.note('  an annotation queue of twenty answers, some of them scored')
  const [ada = root, ...others] = people.map(name => owners.get(name) ?? root)
  const { plan, sent } = judged
  await sendAnnotations({ ada, others }, { project: plan.project, run_id: sent.runId })
  await sendReflows(ada, sent.runId)
}

/** Without a trained model the demonstration continues. */
async function addModels(api: Api, url: string, signal: AbortSignal): Promise<void> {
  terminal.note('  a model of two versions: it is trained, deployed and asked')
  const limit = AbortSignal.any([signal, AbortSignal.timeout(modelsWithinMs)])
  await sendModels(api, url, limit)
    .then(said => terminal.note(`  ${said}`))
    .catch((error: Error) => {
      if (!signal.aborted) terminal.note(`  the model is incomplete: ${error.message}`)
    })
}

async function addJobs(root: Api, owners: Map<string, Api>, signal: AbortSignal): Promise<void> {
  const [pausing = root, training = root, waiting = root] = people.map(name => owners.get(name))
  terminal.note('  a model that a client of the Hub uploaded')
  await sendHubModel(owners.get('ada') ?? root, owners.has('ada') ? 'ada' : 'admin')
  terminal.note('  two volumes')
  await sendVolumes(owners.get('ada') ?? root)
  terminal.note('  a dataset of two versions, of which the first has broken lines')
  const dataset = await sendDataset(owners.get('ada') ?? root, signal)
  await sendPlan(owners.get('ada') ?? root, 'vision')
  terminal.note('  four jobs: one is paused during training, one is training, two are waiting')
  if (!(await sendJobs({ pausing, training, waiting }, dataset, signal)))
    terminal.note('  the first one did not start training; forge logs shows why')
}

/** The first person to report owns a project; the others join it. */
async function share(root: Api, { project, owner }: PlannedRun): Promise<void> {
  for (const username of people)
    if (username !== owner)
      await root.put(`/api/projects/${project}/members/${username}`, { role: 'member' })
  await root.put(`/api/projects/${project}/views/default`, { state: { panels: firstPanels } })
}

async function signIn(connect: Connect, username: string, password: string): Promise<string> {
  const login = { username, password }
  return (await connect(null).post<{ token: string }>('/api/auth/login', login)).token
}

/** The people of the demonstration; people left from an earlier one get new passwords. */
async function addPeople(root: Api, connect: Connect): Promise<Map<string, Api>> {
  const owners = new Map<string, Api>()
  const known = new Set(
    (await root.get<{ username: string }[]>('/api/admin/users')).map(one => one.username),
  )
  for (const username of people) {
    const password = randomBytes(12).toString('base64url')
    if (known.has(username)) await root.patch(`/api/admin/users/${username}`, { password })
    else await root.post('/api/admin/users', { username, role: 'operator', password })
    owners.set(username, connect(await signIn(connect, username, password)))
  }
  return owners
}

/** One more step a second. */
async function keepMoving({ shortId, report }: Sent, signal: AbortSignal): Promise<void> {
  terminal.note(`${shortId} keeps reporting; Ctrl-C ends it and the server`)
  for (let step = 2_000; !signal.aborted; step++) {
    const loss = 0.5 + 0.05 * Math.sin(step / 20)
    await report('metrics', { points: [{ key: 'train/loss', step, value: loss }] })
    await report('logs', { stream: 'stdout', chunks: [`step ${step} loss ${loss.toFixed(4)}`] })
    await pause(1_000, signal)
  }
}
