import type { Person } from '../../auth/caller.ts'
import { annotationAt } from '../../events/annotations.ts'
import { digestOf } from '../../platform/digest.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type AnnotationInput,
  type AnnotationRubric,
  type AnnotationSource,
  annotationLimits,
} from '../../schemas/annotations.ts'
import type { DatasetReport } from '../../schemas/datasets/report.ts'
import type { ValidationError } from '../../schemas/shared.ts'
import { Invalid } from '../../schemas/validate.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { create, fresh } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { judge, rolesIn } from '../rules/access.ts'
import { resolveRubric } from '../rules/rubric-reference.ts'
import { findProject } from '../rules/short-id.ts'
import { createQueue } from './decide.ts'
import {
  type DatasetRow,
  type Item,
  itemsOfRows,
  itemsOfSamples,
  kindsFor,
  type SampleOfRun,
} from './items.ts'
import { countQueues, insertQueue } from './rows.ts'

/** Reads sources of queues on behalf of a person; refuses a source that is hidden from them (404) or forbidden (403). */
export type AnnotationReader = {
  /** `step` null: of all rounds. In order of step, chunk and index; at most so many, and so many characters. */
  samples(
    caller: Person,
    of: { run_id: string; step: number | null },
    most: { rows: number; characters: number },
  ): Promise<{ run_id: string; project: string; samples: SampleOfRun[] }>
  /** `split` null: the first one. */
  rows(
    caller: Person,
    of: { ref: string; split: string | null },
    most: { rows: number; characters: number },
  ): Promise<{ kind: DatasetReport['kind']; split: string; total: number; rows: DatasetRow[] }>
}

type Request = HttpAsked & { caller: Person; body: AnnotationInput }

/** Reads the source, then creates the queue with its items in one transaction. */
export async function createAnnotation(deps: Deps, reader: AnnotationReader, request: Request) {
  const { caller, body } = request
  const {
    project,
    kind,
    name,
    instructions = '',
    overlap = 1,
    limit = annotationLimits.items,
  } = body
  await refuseUnlessMember(deps, project, caller)
  const rubric = await rubricOf(deps, body, caller)
  const read = await readSource(reader, body, caller)
  const items = read.items.slice(0, limit)
  refuseUnfit(items)
  const queue_id = deps.newId('anq')
  const target = fresh(annotationAt(queue_id))
  return create(deps, request, target, {
    locks: [`annotation queues of ${project}`],
    async make(work) {
      if ((await countQueues(work.tx, project)) >= annotationLimits.ofProject)
        throw new Refusal(
          'conflict',
          `Project ${project} has ${annotationLimits.ofProject} annotation queues, the maximum`,
          { code: 'annotation.too_many' },
        )
      const owner = caller.username
      const { source } = read
      const runs = [source.run_id, source.against?.run_id].filter(id => typeof id === 'string')
      const row = { queue_id, name, project, owner, kind, overlap, rubric, dataset: source.ref }
      const facts = { queue_id, name, project, owner, kind, overlap, rubric, source, instructions }
      const digest = digestOf(items.map(item => item.digest))
      await work.decide(target, {
        decide: queue => createQueue(queue, { ...facts, items: items.length, digest }),
        alongside: tx =>
          insertQueue(tx, { ...row, is_open: true, runs: [...new Set(runs)] }, items),
      })
      return {
        queue_id,
        name,
        project,
        items: items.length,
        left_out: read.items.length - items.length,
      }
    },
  })
}

async function refuseUnlessMember({ pool }: Deps, project: string, caller: Person): Promise<void> {
  const known = await findProject(pool, project, caller)
  const verdict = known ? judge(rolesIn(known, caller), 'submit') : 'hidden'
  if (verdict === 'hidden') throw new Refusal('not_found', `No such project: ${project}`)
  if (verdict === 'forbidden')
    throw new Refusal(
      'forbidden',
      `Only members of project ${project} may create annotation queues`,
    )
}

async function rubricOf(
  { store }: Deps,
  { kind, rubric }: AnnotationInput,
  caller: Person,
): Promise<AnnotationRubric | null> {
  const given = rubric ?? null
  if (kind !== 'rubric') {
    if (given !== null)
      throw invalid(['rubric'], given, `a queue of the kind ${kind} has no rubric`)
    return null
  }
  if (given === null)
    throw invalid(['rubric'], given, 'a queue of the kind rubric needs one, as owner/name@version')
  const found = await resolveRubric(store, given, caller)
  if (found.is === 'missing') throw invalid(['rubric'], given, `no such rubric: ${given}`)
  if (found.is === 'outdated')
    throw invalid(['rubric'], given, `the rubric is at version ${found.version}`)
  const { criteria, scale_min, scale_max } = found.content
  return { ref: found.ref, criteria, scale_min, scale_max }
}

type Read = { source: AnnotationSource; items: Item[] }

const readSource = (
  reader: AnnotationReader,
  body: AnnotationInput,
  caller: Person,
): Promise<Read> => {
  const faults = sourceFaults(body)
  if (faults.length > 0) throw new Invalid(faults)
  return body.source.type === 'dataset'
    ? readDataset(reader, body, caller)
    : readSamples(reader, body, caller)
}

const fieldsOf = { samples: ['run_id', 'step', 'against'], dataset: ['ref', 'split'] } as const

function sourceFaults({ kind, source }: AnnotationInput): ValidationError[] {
  const own: readonly string[] = fieldsOf[source.type]
  const faults: ValidationError[] = Object.entries(source).flatMap(([field, value]) =>
    field === 'type' || own.includes(field) || value === null
      ? []
      : [fault(['source', field], value, `a source of the type ${source.type} has no ${field}`)],
  )
  const needed = source.type === 'samples' ? 'run_id' : 'ref'
  if (source[needed] === undefined)
    faults.push({ loc: ['body', 'source', needed], msg: 'Field required', type: 'missing' })
  if (source.against && kind !== 'pairwise')
    faults.push(fault(['source', 'against'], source.against, 'only a pairwise queue compares'))
  return faults
}

async function readSamples(
  reader: AnnotationReader,
  { kind, project, source, limit = annotationLimits.items }: AnnotationInput,
  caller: Person,
): Promise<Read> {
  const { run_id = '', step = null, against = null } = source
  const most = {
    // A pair takes two, and some answers may have no partner.
    rows: kind === 'pairwise' ? 4 * annotationLimits.items : limit + 1,
    characters: 2 * annotationLimits.characters,
  }
  const read = async (of: { run_id: string; step: number | null }, field: string[]) => {
    const found = await reader.samples(caller, of, most)
    if (found.project === project) return found
    throw invalid(
      field,
      of.run_id,
      `the run is in project ${found.project}, whose members annotate it`,
    )
  }
  const found = await read({ run_id, step }, ['source', 'run_id'])
  const other =
    against &&
    (await read({ run_id: against.run_id ?? run_id, step: against.step ?? null }, [
      ...['source', 'against', 'run_id'],
    ]))
  return {
    items: itemsOfSamples(kind, found.samples, other?.samples ?? null),
    source: {
      ...{ type: 'samples', run_id: found.run_id, step, ref: null, split: null },
      against: other && { run_id: other.run_id, step: against?.step ?? null },
    },
  }
}

async function readDataset(
  reader: AnnotationReader,
  { kind, source, limit = annotationLimits.items }: AnnotationInput,
  caller: Person,
): Promise<Read> {
  const { ref = '', split = null } = source
  const most = { rows: limit, characters: 2 * annotationLimits.characters }
  const found = await reader.rows(caller, { ref, split }, most)
  if (found.kind === null || !kindsFor[kind].includes(found.kind))
    throw invalid(
      ['source', 'ref'],
      ref,
      `a queue of the kind ${kind} shows rows of the kinds ${kindsFor[kind].join(' and ')}, and this dataset is ${found.kind}`,
    )
  return {
    items: itemsOfRows(found.rows, found.kind, `${ref}/${found.split}`),
    source: { type: 'dataset', run_id: null, step: null, against: null, ref, split: found.split },
  }
}

function refuseUnfit(items: readonly Item[]): void {
  if (items.length === 0)
    throw new Refusal('invalid', 'The source has nothing to annotate', {
      code: 'annotation.no_items',
      hint: 'A pairwise queue needs two different answers to the same prompt',
    })
  const characters = items.reduce(
    (sum, { prompt, responses }) => sum + JSON.stringify([prompt, responses]).length,
    0,
  )
  if (characters > annotationLimits.characters)
    throw new Refusal(
      'invalid',
      `The items have ${characters} characters; a queue may have ${annotationLimits.characters}`,
      {
        code: 'annotation.too_large',
        data: { characters, limit: annotationLimits.characters },
        hint: 'Take fewer of them with limit',
      },
    )
}

const fault = (field: readonly string[], input: unknown, msg: string): ValidationError => ({
  ...{ loc: ['body', ...field], msg: `Value error, ${msg}`, type: 'value_error', input },
})
const invalid = (...of: Parameters<typeof fault>) => new Invalid([fault(...of)])
