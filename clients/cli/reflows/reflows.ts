import type { Static } from 'typebox'
import {
  dedupeKinds,
  type ReflowDetail,
  type ReflowErased,
  type ReflowInput,
  type ReflowPreview,
  type ReflowRow,
  type reflowCreated,
  type reflowDeleted,
  type ScrubKind,
  scrubKinds,
} from '../../../schemas/reflows.ts'
import { segment } from '../api/client.ts'
import { findDeployment } from '../deployments/find.ts'
import { describe, repeated, wholeNumber } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Flags, Session, Texts } from '../program/session.ts'
import { showFacts } from '../program/show-one.ts'
import { counted } from '../terminal/amounts.ts'
import { type Column, showTable } from '../terminal/table.ts'

const path = '/api/reflows'
export const pathOfReflow = (reflow = '') => `${path}/${segment(reflow)}`
export const oneReflow = { '<reflow>': 'its id, as `forge reflow ls` shows it' }

export const describeReflowCreate = describe({
  text: 'create a rule that makes a dataset from traffic, samples or annotations',
  operands: { '<name>': 'what it collects', '<dataset>': 'OWNER/NAME, which gets the versions' },
  options: {
    '-d, --deployment <deployment>': 'take its captured requests: name or id',
    '-r, --run <run>': 'take the validation samples of a run',
    '--step <n>': wholeNumber('of this round; the newest one if left out'),
    '-q, --queue <queue>': 'take the answers of an annotation queue',
    '-f, --filter <search>': 'only rows that fit, such as \'completion_tokens>20 NOT "sorry"\'',
    '--dedupe <kind>': {
      text: 'which rows count as equal',
      choices: dedupeKinds,
      fallback: 'exact',
    },
    '--keep <kind>': repeated(`scrub everything but ${scrubKinds.join(', ')}; may be repeated`),
    '--rate <share>': ['the share of rows that is taken, from 0 to 1', '1'],
    '--rubric <ref>': 'OWNER/NAME@N; only rows whose newest score reaches --min-score',
    '--min-score <score>': 'for --rubric',
    '--all': 'each firing takes everything that is kept, not only what is new',
  },
  after: `
Examples:
  forge reflow create "good answers" ada/traffic -d tutor -f 'completion_tokens>20' --rate 0.1
  forge reflow create "what judges like" ada/liked -r demo-1 --rubric ada/helpful@3 --min-score 0.8`,
})

type CreateOptions = CommonOptions &
  Texts<'deployment' | 'run' | 'queue' | 'filter' | 'rubric' | 'minScore'> &
  Flags<'all'> & {
    step?: number
    dedupe: ReflowInput['dedupe']
    keep: readonly string[]
    rate: string
  }
type Created = Static<typeof reflowCreated>

export const reflowCreate = request<Created, CreateOptions>({
  async send({ api }, options, name = '', target_dataset = '') {
    const { filter = '', dedupe, keep, rate, all = false } = options
    const source = await sourceOf({ api }, options)
    const input = {
      ...{ name, target_dataset, source, filter, dedupe, rubric: rubricOf(options) },
      ...{ scrub: scrubbedBut(keep), sample_rate: numberOf('--rate', rate) },
      take: all ? 'all' : 'new',
    }
    return api.post<Created>(path, input, { creates: true })
  },
  data: ({ reflow_id }) => reflow_id,
  note: ({ reflow_id }) => `See what it would take: forge reflow preview ${reflow_id}`,
})

async function sourceOf(
  { api }: Pick<Session, 'api'>,
  { deployment, run, queue, step }: CreateOptions,
): Promise<ReflowInput['source']> {
  if ([deployment, run, queue].filter(one => one !== undefined).length !== 1)
    throw usageFailure('Give one of --deployment, --run and --queue, where the rows come from')
  if (deployment !== undefined)
    return { type: 'traffic', deployment_id: (await findDeployment(api, deployment)).deployment_id }
  if (queue !== undefined) return { type: 'annotations', queue_id: queue }
  return { type: 'samples', run_id: run ?? '', ...(step !== undefined && { step }) }
}

function rubricOf({ rubric, minScore }: CreateOptions): ReflowInput['rubric'] {
  if (rubric === undefined && minScore === undefined) return null
  if (rubric === undefined || minScore === undefined)
    throw usageFailure('Give --rubric and --min-score together')
  return { ref: rubric, min_score: numberOf('--min-score', minScore) }
}

function scrubbedBut(keep: readonly string[]): ScrubKind[] {
  const unknown = keep.find(kind => !scrubKinds.some(known => known === kind))
  if (unknown !== undefined)
    throw usageFailure(`--keep ${unknown}: one of ${scrubKinds.join(', ')} is expected`)
  return scrubKinds.filter(kind => !keep.includes(kind))
}

function numberOf(option: string, text: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number))
    throw usageFailure(`${option} ${text}: a number is expected`)
  return number
}

export const describeReflowList = describe({ text: 'your reflows, newest first' })

export const reflowList = list<ReflowRow>({
  path,
  shown: {
    columns: [
      { title: 'REFLOW', cell: row => row.reflow_id },
      { title: 'NAME', cell: row => row.name, shrinks: true },
      { title: 'SOURCE', cell: row => row.source.type },
      { title: 'DATASET', cell: row => row.last_version ?? row.target_dataset },
      { title: 'STATE', cell: row => row.state },
      { title: 'FIRED', cell: row => String(row.firings), align: 'right' },
      { title: 'OWNER', cell: row => row.owner, drops: true },
    ],
    none: 'No reflows yet. Create one: forge reflow create NAME OWNER/DATASET --deployment DEPLOYMENT',
  },
})

export const describeReflowShow = describe({
  text: 'a reflow with its newest firings',
  operands: oneReflow,
})

export const reflowShow = request<ReflowDetail>({
  send: ({ api }, _, reflow) => api.get<ReflowDetail>(pathOfReflow(reflow)),
  data(reflow, { terminal }) {
    showFacts(terminal, factsOf(reflow), 12)
    if (reflow.fired.length > 0) {
      terminal.data('')
      showTable(terminal, firingColumns, reflow.fired)
    }
    return []
  },
})

const firingColumns: Column<ReflowDetail['fired'][number]>[] = [
  { title: 'NO', cell: row => String(row.firing), align: 'right' },
  { title: 'WINDOW', cell: row => row.window ?? '-', shrinks: true },
  { title: 'STATE', cell: row => row.state },
  { title: 'SEEN', cell: row => String(row.counts?.seen ?? '-'), align: 'right' },
  { title: 'TAKEN', cell: row => String(row.counts?.taken ?? '-'), align: 'right' },
  { title: 'VERSION', cell: row => row.ref ?? row.reason ?? '-', shrinks: true },
  { title: 'STARTED', cell: row => row.started_at, drops: true },
]

const factsOf = (reflow: ReflowDetail): [string, string][] => {
  const { deployment_id, run_id, step, queue_id } = reflow.source
  const { rubric } = reflow
  return [
    ['reflow', reflow.reflow_id],
    ['name', reflow.name],
    ['source', `${reflow.source.type} ${deployment_id ?? queue_id ?? run_id ?? ''}`],
    ...(step === null ? [] : [['step', String(step)] as [string, string]]),
    ['filter', reflow.filter || 'everything'],
    ['dedupe', reflow.dedupe],
    ['scrub', reflow.scrub.join(', ') || 'nothing'],
    ['rate', String(reflow.sample_rate)],
    ['rubric', rubric === null ? 'none' : `${rubric.ref}, at least ${rubric.min_score}`],
    ['take', reflow.take === 'all' ? 'everything that is kept' : 'what is new'],
    ['dataset', reflow.last_version ?? reflow.target_dataset],
    ['state', reflow.state],
    ['created by', `${reflow.owner}, ${reflow.created_at}`],
  ]
}

export const describeReflowPreview = describe({
  text: 'what the next firing would take, and what it would scrub; nothing is stored',
  operands: oneReflow,
})

export const reflowPreview = request<ReflowPreview>({
  send: ({ api }, _, reflow) => api.post<ReflowPreview>(`${pathOfReflow(reflow)}/preview`, {}),
  data: ({ rows }) => rows.map(({ row }) => JSON.stringify(row)),
  note: ({ counts, truncated, captured }) => [
    `${counted(counts.taken, 'row')} of ${counts.seen}${truncated ? ', and more that a preview does not look at' : ''}`,
    ...leftOut(counts),
    `scrubbed: ${scrubKinds.map(kind => `${counts.scrubbed[kind]} ${kind}`).join(', ')}`,
    ...(captured === null
      ? []
      : [
          `captured: ${captured.kept} kept for ${captured.retention_days} days, ${captured.dropped} could not be kept, ${captured.evicted} made room for newer ones`,
        ]),
  ],
})

const leftOut = (counts: ReflowPreview['counts']): string[] => {
  const reasons = (
    ['unreadable', 'erased', 'filtered', 'unsampled', 'unscored', 'duplicates'] as const
  ).filter(reason => counts[reason] > 0)
  return reasons.length === 0
    ? []
    : [`left out: ${reasons.map(reason => `${counts[reason]} ${reason}`).join(', ')}`]
}

export const describeReflowErase = describe({
  text: "erase a person's captured requests, and list the versions and models made of earlier ones",
  operands: { '<deployment>': 'name or id' },
  options: {
    '-u, --user <name>': 'as the requests name the person in `user`',
    '-t, --token <token>': 'all requests of a token, by its id',
  },
})

export const reflowErase = request<ReflowErased, CommonOptions & Texts<'user' | 'token'>>({
  async send({ api }, { user, token }, deployment = '') {
    if ((user === undefined) === (token === undefined))
      throw usageFailure('Give either --user or --token')
    const { deployment_id } = await findDeployment(api, deployment)
    const whose = user === undefined ? { token_id: token } : { user }
    return api.post<ReflowErased>(`${path}/erase`, { deployment_id, ...whose }, { creates: true })
  },
  data: ({ versions, models, runs }) => [
    ...versions.map(ref => `dataset ${ref}`),
    ...runs.map(ref => `run ${ref}`),
    ...models.map(ref => `model ${ref}`),
  ],
  note: ({ deleted, versions, truncated }) => [
    `${counted(deleted, 'captured request')} deleted; those that began until now are never taken`,
    versions.length === 0
      ? 'No version has rows of this person'
      : `Above: what was made of earlier requests${truncated ? ', and there is more' : ''}`,
  ],
})

export const describeReflowRemove = describe({
  text: 'delete a reflow; the versions that it made stay',
  operands: oneReflow,
})

type Deleted = Static<typeof reflowDeleted>

export const reflowRemove = request<Deleted>({
  send: ({ api }, _, reflow) => api.delete<Deleted>(pathOfReflow(reflow)),
  note: ({ reflow_id }) => `${reflow_id} was deleted`,
})
