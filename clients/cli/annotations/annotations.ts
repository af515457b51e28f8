import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Static } from 'typebox'
import {
  type AnnotationAgreement,
  type AnnotationDetail,
  type AnnotationInput,
  type AnnotationRow,
  type annotationCreated,
  type annotationExported,
  annotationKinds,
  type queueChanged,
} from '../../../schemas/annotations.ts'
import { segment } from '../api/client.ts'
import { describe, wholeNumber } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Session, Texts } from '../program/session.ts'
import { showFacts } from '../program/show-one.ts'
import { counted } from '../terminal/amounts.ts'
import { type Column, showTable } from '../terminal/table.ts'

const path = '/api/annotations'
const pathOf = (queue = '') => `${path}/${segment(queue)}`
const operands = { '<queue>': 'its id, as `forge annotate ls` shows it' }

export const describeAnnotateList = describe({
  text: 'the annotation queues that you may read, newest first',
  options: { '-p, --project <name>': 'only those of a project', '--open': 'only open ones' },
})

export const annotateList = list<AnnotationRow, CommonOptions & Texts<'project'> & { open?: true }>(
  {
    path,
    filters: ({ project, open }) => ({ project, state: open && 'open' }),
    shown: {
      columns: [
        { title: 'QUEUE', cell: row => row.queue_id },
        { title: 'NAME', cell: row => row.name, shrinks: true },
        { title: 'PROJECT', cell: row => row.project },
        { title: 'KIND', cell: row => row.kind },
        { title: 'STATE', cell: row => row.state },
        { title: 'DONE', cell: row => `${row.completed}/${row.items}`, align: 'right' },
        { title: 'ANSWERS', cell: row => String(row.answers), align: 'right' },
        { title: 'OWNER', cell: row => row.owner, drops: true },
      ],
      none: 'No annotation queues. Create one: forge annotate new NAME --project demo --run demo-1',
    },
  },
)

export const describeAnnotateNew = describe({
  text: 'create a queue of samples or rows that people compare, score or correct',
  operands: { '<name>': 'what people decide' },
  options: {
    '-p, --project <name>': 'its members annotate (required)',
    '-k, --kind <kind>': { text: 'what people do', choices: annotationKinds, fallback: 'pairwise' },
    '-r, --run <run>': 'take the samples of a run of the project',
    '--step <n>': wholeNumber('only those of one round'),
    '--against-run <run>': 'pair with the samples of another run',
    '--against-step <n>': wholeNumber('pair with the samples of another round'),
    '-d, --dataset <ref>': 'take the rows of a dataset, OWNER/NAME@N',
    '--split <name>': 'train if left out, or the only one',
    '--rubric <ref>': 'OWNER/NAME@N, for the kind rubric',
    '--overlap <n>': wholeNumber('how many people answer each item', 1),
    '-l, --limit <n>': wholeNumber('at most this many items'),
    '-i, --instructions <file>': 'Markdown that people see',
  },
  after: `
Examples:
  forge annotate new "which is better" --project demo --run demo-1 --step 100 --against-step 200 --overlap 2
  forge annotate new "fix the answers" --project demo --kind edit --dataset ada/answers@3`,
})

type NewOptions = CommonOptions &
  Texts<'project' | 'run' | 'againstRun' | 'dataset' | 'split' | 'rubric' | 'instructions'> & {
    kind: AnnotationInput['kind']
    step?: number
    againstStep?: number
    overlap: number
    limit?: number
  }
type Created = Static<typeof annotationCreated>

export const annotateNew = request<Created, NewOptions>({
  async send({ api, process }, options, name = '') {
    const input = await inputOf(options, name, process.cwd())
    if ((await api.find(`/api/projects/${segment(input.project)}`)) === null)
      throw usageFailure(
        `No such project: ${input.project}`,
        `hint: a project begins with its first run: forge run --project ${input.project} -- COMMAND; forge projects list shows those that you may read`,
      )
    return api.post<Created>(path, input, { creates: true })
  },
  data: ({ queue_id }) => queue_id,
  note: ({ items, left_out, name }, { terminal }) => [
    `${name}: ${counted(items, 'item')}${left_out > 0 ? `, ${left_out} or more left out` : ''}`,
    terminal.paintNote('dim', 'Members of the project annotate it in the console: Annotation'),
  ],
})

async function inputOf(
  options: NewOptions,
  name: string,
  folder: string,
): Promise<AnnotationInput> {
  const { project, kind, overlap, limit, rubric, instructions } = options
  if (project === undefined) throw usageFailure('Give --project, whose members annotate')
  return {
    ...{ name, project, kind, overlap, source: sourceOf(options) },
    ...(rubric !== undefined && { rubric }),
    ...(limit !== undefined && { limit }),
    ...(instructions !== undefined && {
      instructions: await readFile(resolve(folder, instructions), 'utf8').catch(error => {
        throw usageFailure(`--instructions ${instructions} cannot be read: ${error.message}`)
      }),
    }),
  }
}

function sourceOf({
  run,
  step,
  againstRun,
  againstStep,
  dataset,
  split,
}: NewOptions): AnnotationInput['source'] {
  if ((run === undefined) === (dataset === undefined))
    throw usageFailure('Give either --run or --dataset, where the items come from')
  if (dataset !== undefined)
    return { type: 'dataset', ref: dataset, ...(split !== undefined && { split }) }
  const against = {
    ...(againstRun !== undefined && { run_id: againstRun }),
    ...(againstStep !== undefined && { step: againstStep }),
  }
  return {
    ...{ type: 'samples', run_id: run ?? '' },
    ...(step !== undefined && { step }),
    ...(Object.keys(against).length > 0 && { against }),
  }
}

export const describeAnnotateShow = describe({
  text: 'a queue with its progress, by person as well',
  operands,
})

export const annotateShow = request<AnnotationDetail>({
  send: ({ api }, _, queue) => api.get<AnnotationDetail>(pathOf(queue)),
  data: (queue, session) => {
    showFacts(session.terminal, factsOf(queue), 12)
    if (queue.people.length > 0) {
      session.terminal.data('')
      showTable(session.terminal, peopleColumns, queue.people)
    }
    return []
  },
})

const peopleColumns: Column<AnnotationDetail['people'][number]>[] = [
  { title: 'PERSON', cell: row => row.username },
  { title: 'ANSWERS', cell: row => String(row.answers), align: 'right' },
  { title: 'SKIPPED', cell: row => String(row.skips), align: 'right' },
]

function factsOf(queue: AnnotationDetail): [string, string][] {
  const { source, rubric, items, completed, answers, skips, overlap } = queue
  const step = source.step === null ? '' : ` at step ${source.step}`
  return [
    ['queue', queue.queue_id],
    ['name', queue.name],
    ['project', queue.project],
    ['kind', rubric === null ? queue.kind : `${queue.kind} by ${rubric.ref}`],
    ['state', queue.state],
    [
      'source',
      source.run_id === null ? `${source.ref} ${source.split}` : `run ${source.run_id}${step}`,
    ],
    ['overlap', overlap === 1 ? '1 person' : `${overlap} people`],
    ['completed', `${completed} of ${counted(items, 'item')}`],
    ['answers', `${answers}, ${skips} skipped`],
    ...queue.exports.map(({ ref, rows }): [string, string] => [
      'exported',
      `${ref}, ${counted(rows, 'row')}`,
    ]),
    ['created by', `${queue.owner}, ${queue.created_at}`],
  ]
}

export const describeAnnotateAgreement = describe({
  text: 'how well people agree, with each other and with a judge',
  operands,
})

export const annotateAgreement = request<AnnotationAgreement>({
  send: ({ api }, _, queue) => api.get<AnnotationAgreement>(`${pathOf(queue)}/agreement`),
  data: (agreement, session) => showAgreement(agreement, session),
})

const figure = (value: number | null) => (value === null ? '-' : value.toFixed(3))
type Measure = AnnotationAgreement['measures'][number]

function showAgreement(agreement: AnnotationAgreement, { terminal }: Session) {
  const { measures, judge, judges, kind } = agreement
  showTable(terminal, measureColumns, measures)
  const pairs = measures.flatMap(({ name, kappa }) => kappa.map(one => ({ name, ...one })))
  if (pairs.length > 0) {
    terminal.data('')
    showTable(
      terminal,
      [
        { title: 'PEOPLE', cell: row => row.people.join(', ') },
        { title: 'OF', cell: row => row.name, shrinks: true },
        { title: 'ITEMS', cell: row => String(row.items), align: 'right' },
        { title: 'KAPPA', cell: row => figure(row.kappa), align: 'right' },
      ],
      pairs,
    )
  }
  const judged = judges.flatMap(({ judge: by, measures: of }) =>
    of.map(one => ({ by: by ? `${by.deployment_id}@${by.revision_id}` : 'hidden', ...one })),
  )
  if (judged.length > 0) {
    terminal.data('')
    showTable(terminal, judgeColumns, judged)
  }
  if (judge.items === 0) return []
  const found =
    kind === 'pairwise'
      ? `equal ${figure(judge.equal)}, kappa ${figure(judge.kappa)}`
      : `rank correlation ${figure(judge.correlation)}`
  return ['', `People against the judge, ${counted(judge.items, 'item')}: ${found}`]
}

const measureColumns: Column<Measure>[] = [
  { title: 'OF', cell: row => row.name, shrinks: true },
  { title: 'ITEMS', cell: row => String(row.items), align: 'right' },
  { title: 'EQUAL', cell: row => figure(row.equal), align: 'right' },
  { title: 'ALPHA', cell: row => figure(row.alpha.nominal), align: 'right' },
  { title: 'ORDINAL', cell: row => figure(row.alpha.ordinal), align: 'right' },
  { title: 'INTERVAL', cell: row => figure(row.alpha.interval), align: 'right' },
]

type OfJudge = AnnotationAgreement['judges'][number]['measures'][number] & { by: string }

const judgeColumns: Column<OfJudge>[] = [
  { title: 'JUDGE', cell: row => row.by, shrinks: true },
  { title: 'OF', cell: row => row.name, shrinks: true },
  { title: 'ITEMS', cell: row => String(row.items), align: 'right' },
  { title: 'EQUAL', cell: row => figure(row.equal), align: 'right' },
  { title: 'KAPPA', cell: row => figure(row.kappa), align: 'right' },
  { title: 'ALPHA', cell: row => figure(row.alpha.nominal), align: 'right' },
  { title: 'ORDINAL', cell: row => figure(row.alpha.ordinal), align: 'right' },
  { title: 'INTERVAL', cell: row => figure(row.alpha.interval), align: 'right' },
  { title: 'RANK', cell: row => figure(row.correlation), align: 'right', drops: true },
]

export const describeAnnotateExport = describe({
  text: 'make the next version of a dataset from the answers',
  operands: { ...operands, '<dataset>': 'OWNER/NAME' },
})

type Exported = Static<typeof annotationExported>

export const annotateExport = request<Exported>({
  send: ({ api }, _, queue, dataset = '') =>
    api.post<Exported>(`${pathOf(queue)}/export`, { dataset }, { creates: true }),
  data: ({ ref }) => ref,
  note: ({ rows, created, ref }) =>
    created ? `${counted(rows, 'row')}` : `${ref} has the same rows already`,
})

const turned = (state: 'close' | 'reopen') =>
  request<Static<typeof queueChanged>>({
    send: ({ api }, _, queue) => api.post(`${pathOf(queue)}/${state}`, {}),
    note: ({ queue_id, state: now, changed }) =>
      `${queue_id} ${changed ? 'is' : 'was'} ${now}${changed ? '' : ' already'}`,
  })

export const describeAnnotateClose = describe({
  text: 'close a queue: nobody can answer until it is open again',
  operands,
})
export const annotateClose = turned('close')
export const describeAnnotateReopen = describe({ text: 'open a closed queue again', operands })
export const annotateReopen = turned('reopen')
