import type { JudgingRecord, RubricTested } from '../../../schemas/rubrics/judgings.ts'
import { type Api, segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { type Deployment, findDeployment } from '../deployments/find.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { amount, counted } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { showTable } from '../terminal/table.ts'

const rubricOperand = { '<rubric>': 'owner/name, or the name of your own' }
const sampleOptions = {
  '-r, --run <run>': 'whose validation samples are judged (required)',
  '--step <step>': 'the round; the newest by default',
  '--judge <deployment>': 'name or id; may be left out if you can read only one that is ready',
}

type JudgeOptions = CommonOptions & Texts<'run' | 'step' | 'judge' | 'limit'>

export const describeRubricTest = describe({
  text: 'let a deployment judge up to 20 samples by a rubric, and store nothing',
  operands: rubricOperand,
  options: { ...sampleOptions, '-l, --limit <count>': 'at most this many samples (20)' },
})

export async function rubricTest(
  world: World,
  named: string,
  options: JudgeOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const [owner, name] = await nameOf(api, named)
  const body = { run_id: runIn(options), ...(await askedOf(api, options)) }
  const path = `/api/rubrics/${segment(owner)}/${segment(name)}/test`
  const tested = await api.post<RubricTested>(path, body)
  if (isJson) terminal.data(toJson(tested))
  else {
    showTable(terminal, columns, tested.results)
    terminal.note(`version ${tested.version}, step ${tested.step}; nothing was stored`)
  }
  return tested.results.some(({ error }) => error !== null) ? exitCode.faulty : exitCode.ok
}

type Result = RubricTested['results'][number]
const columns = [
  { title: 'SAMPLE', cell: (row: Result) => row.sample_id },
  {
    title: 'SCORE',
    cell: (row: Result) => (row.score === null ? '-' : amount(row.score)),
    align: 'right' as const,
  },
  { title: 'REASON', cell: (row: Result) => row.reason ?? row.error ?? '', shrinks: true },
]

export const describeRubricJudge = describe({
  text: 'let a deployment judge the samples of a round by a rubric, in the background',
  operands: rubricOperand,
  options: { ...sampleOptions, '-l, --limit <count>': 'at most this many samples (200)' },
  after: `
Examples:
  forge rubric judge helpful --run math-rl-142 --judge judge-32b
  forge rubric judgings math-rl-142`,
})

export async function rubricJudge(
  world: World,
  named: string,
  options: JudgeOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const run = runIn(options)
  const body = { rubric: (await nameOf(api, named)).join('/'), ...(await askedOf(api, options)) }
  const path = `/api/runs/${segment(run)}/judgings`
  const made = await api.post<{ judging_id: string; step: number }>(path, body, { creates: true })
  if (isJson) terminal.data(toJson(made))
  else {
    terminal.data(made.judging_id)
    terminal.note(`judging step ${made.step}; forge rubric judgings ${run} shows how far it is`)
  }
  return exitCode.ok
}

export const describeRubricJudgings = describe({
  text: 'what deployments judge and have judged of a run, newest first',
  operands: { '<run>': 'run id or short id' },
})

export const rubricJudgings = list<JudgingRecord>({
  path: (_, run = '') => `/api/runs/${segment(run)}/judgings`,
  shown: {
    columns: [
      { title: 'JUDGING', cell: row => row.judging_id },
      { title: 'RUBRIC', cell: row => `${row.rubric}@${row.version}`, shrinks: true },
      { title: 'STEP', cell: row => String(row.step), align: 'right' },
      { title: 'STATE', cell: row => row.state },
      {
        title: 'JUDGED',
        cell: row => `${row.scored + row.cached}/${row.samples ?? '?'}`,
        align: 'right',
      },
      { title: 'FAILED', cell: row => String(row.failed), align: 'right' },
      {
        title: 'MEAN',
        cell: row => (row.mean === null ? '-' : amount(row.mean, 3)),
        align: 'right',
      },
      { title: 'JUDGE', cell: row => row.judge?.deployment_id ?? '-', drops: true },
      { title: 'WHY', cell: row => row.reason ?? '', shrinks: true },
    ],
    none: 'Nothing was judged: forge rubric judge RUBRIC --run RUN --judge DEPLOYMENT',
    isJsonByLine: true,
  },
})

export const describeRubricCancel = describe({
  text: 'cancel a judging; the scores so far are kept',
  operands: {
    '<run>': 'run id or short id',
    '<judging>': 'its id: forge rubric judgings RUN lists them',
  },
})

export const rubricCancel = request<{ judging_id: string; changed: boolean }>({
  send: ({ api }, _, run = '', judging = '') =>
    api.post(`/api/runs/${segment(run)}/judgings/${segment(judging)}/cancel`, {}),
  note: ({ judging_id, changed }) =>
    `${judging_id} ${changed ? 'is cancelled' : 'had ended before'}`,
})

function runIn({ run }: JudgeOptions): string {
  if (run === undefined) throw usageFailure('Give --run, whose samples are judged')
  return run
}

async function nameOf(api: Api, named: string): Promise<[owner: string, name: string]> {
  const [owner, name] = named.split('/')
  if (owner && name) return [owner, name]
  const { username } = await api.get<{ username: string }>('/api/auth/me')
  return [username, named]
}

async function askedOf(api: Api, { judge, step, limit }: JudgeOptions) {
  return {
    judge:
      judge === undefined ? await onlyReady(api) : (await findDeployment(api, judge)).deployment_id,
    ...(step !== undefined && { step: numberOf('--step', step) }),
    ...(limit !== undefined && { limit: numberOf('--limit', limit) }),
  }
}

async function onlyReady(api: Api): Promise<string> {
  const all = await everyPage<Deployment>(api, '/api/deployments', { state: 'ready' })
  const [only] = all
  if (only && all.length === 1) return only.deployment_id
  throw usageFailure(
    `Give --judge: ${all.length === 0 ? 'no deployment is ready' : `${counted(all.length, 'deployment')} are ready`}`,
    'hint: forge deploy ls lists them',
  )
}

function numberOf(flag: string, text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw usageFailure(`${flag} ${text}: give a whole number`)
  return Number(text)
}
