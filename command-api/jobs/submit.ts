import type { Submitter } from '../../auth/caller.ts'
import type { Range } from '../../events/calculations/queue-forecast.ts'
import type { NewPlace } from '../../events/calculations/queue-picture.ts'
import { type Job, jobAt } from '../../events/job-state.ts'
import { inGroups, type Outcomes } from '../../platform/in-groups.ts'
import { streamPosition } from '../../platform/position.ts'
import { isOutage } from '../../platform/postgres/pool.ts'
import type { ReplicaServing } from '../../schemas/deployments/replicas.ts'
import type { AdmissionResult, GateResult } from '../../schemas/jobs/jobs.ts'
import type { JobSpec } from '../../schemas/jobs/jobspec.ts'
import { type HttpAsked, stampOf } from '../commit/asked.ts'
import { type CommitDeps, create, decideOn, fresh } from '../commit/commit.ts'
import { createTogether, type Made } from '../commit/create-together.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'
import { refuseProjectOfOthers, type ShortIdDeps, shortIdIn } from '../rules/short-id.ts'
import { rulesFor } from './admission/approval.ts'
import type { AdmissionFacts } from './admission/facts.ts'
import { loadFacts, storedFacts } from './admission/load-facts.ts'
import { type Passing, passEverything, tryEverything } from './admission/with-plugins.ts'
import { requestForJob } from './approval.ts'
import { admit } from './decide.ts'
import { admittedOf, holdOf, insertJobs, newcomerOf, resultOf, type Submission } from './new-job.ts'
import { pastRuns } from './past-runs.ts'
import type { JobPorts } from './ports.ts'

export type SubmitDeps = CommitDeps & ShortIdDeps & Pick<Deps, 'newId' | 'queue' | 'sealing'>

/** A submission that has passed all gates, and its request. */
export type Submit = {
  request: HttpAsked & { caller: Submitter }
  submission: Submission
  /** Null: a new one. */
  run_id: string | null
}

/** Maximum jobs per transaction, and maximum concurrent transactions per process. */
const grouping = { most: 50, atOnce: 4 }

/** Information that is not in the spec. */
export type Beside = {
  /** A job that the caller may control. */
  retryOf?: string
  /** Makes the job a replica of a revision; only the control plane itself does. */
  serving?: ReplicaServing
  /** The id of the run; if it exists, the submit is refused. Only the control plane itself chooses ids. */
  run_id?: string
  /** Its plan was approved, so the job need not wait for an approval. */
  isApproved?: boolean
  /** Throws to submit nothing after all. */
  check?: (facts: AdmissionFacts) => void
}

/** Submits jobs; the work shared by jobs that arrive together is done once. */
export type Submits = {
  /** The facts and the results of all gates, for a job that is not submitted. */
  tryOut(spec: JobSpec, caller: Submitter): Promise<{ facts: AdmissionFacts; gates: GateResult[] }>
  /** Runs the gates and creates the job. */
  submit(request: Submit['request'], spec: JobSpec, beside?: Beside): Promise<AdmissionResult>
}

export function openSubmits(deps: Deps, { catalogue }: JobPorts): Submits {
  const readStored = storedFacts(deps.pool)
  const sources = { ...deps, catalogue, readStored, readPastRuns: pastRuns(deps.pool) }
  const create = inGroups<Submit, AdmissionResult>(grouping, submits => createGroup(deps, submits))
  const factsFor = (spec: JobSpec, caller: Submitter, { retryOf, serving }: Beside) =>
    loadFacts(spec, { ...sources, caller, retryOf: retryOf ?? null, serving: serving ?? null })
  const passing = (caller: Submitter, beside: Beside): Passing => ({
    plugins: beside.serving === undefined ? deps.plugins : null,
    caller,
    load: spec => factsFor(spec, caller, beside),
    refuse: facts => refuseStrangers(facts, caller),
  })
  return {
    tryOut: (spec, caller) => tryEverything(spec, passing(caller, {})),
    async submit(request, spec, beside = {}) {
      const { facts, gates } = await passEverything(spec, passing(request.caller, beside))
      beside.check?.(facts)
      const approvalRules = beside.isApproved ? [] : facts.approvalRules
      const submission = { facts: { ...facts, approvalRules }, gates }
      return create({ request, submission, run_id: beside.run_id ?? null })
    },
  }
}

/** Anybody may submit to a project that does not exist yet. */
function refuseStrangers({ project, spec }: AdmissionFacts, caller: Submitter): void {
  if (project) refuseProjectOfOthers(project, spec.metadata.project, caller)
}

/** If the transaction of a group is refused, perhaps because of one of its jobs, each job gets its own. */
async function createGroup(
  deps: SubmitDeps,
  submits: readonly Submit[],
): Promise<Outcomes<AdmissionResult>> {
  const apart = () => Promise.allSettled(submits.map(submit => createJob(deps, submit)))
  if (submits.length === 1 || !mayShare(submits)) return apart()
  try {
    // Before the transaction, which holds a connection.
    const [places, shortIds] = await Promise.all([
      placesOf(deps, submits),
      shortIdsOf(deps, submits),
    ])
    const answers = await createTogether<Submit, AdmissionResult>(deps, submits, (tx, some, now) =>
      makeJobs(deps, tx, { submits: some, places, shortIds }, now),
    )
    return answers.map(value => ({ status: 'fulfilled', value }))
  } catch (error) {
    // It may already be committed.
    if (isOutage(error)) throw error
    return apart()
  }
}

/** A job with a new project, an approval to ask for or a chosen id gets a separate transaction, and requests with the same key wait for each other. */
function mayShare(submits: readonly Submit[]): boolean {
  const keys = submits.flatMap(({ request: { caller, ctx } }) => {
    const key = ctx.get('idempotency-key')
    return key === '' ? [] : JSON.stringify([caller.username, key])
  })
  const isApart = submits.some(
    ({ submission: { facts }, run_id }) =>
      run_id !== null || facts.project === null || rulesFor(facts).length > 0,
  )
  return !isApart && new Set(keys).size === keys.length
}

type Places = ReadonlyMap<Submit, NewPlace>

/** The place that each of these gets, behind those before it in the list. */
async function placesOf({ queue }: SubmitDeps, submits: readonly Submit[]): Promise<Places> {
  const places = await queue.placesOf(submits.map(({ submission }) => newcomerOf(submission.facts)))
  return new Map(
    submits.flatMap((submit, index) => {
      const place = places[index]
      return place ? [[submit, place] as const] : []
    }),
  )
}

type ShortIds = ReadonlyMap<Submit, string>

async function shortIdsOf(
  { shortNumbers }: SubmitDeps,
  submits: readonly Submit[],
): Promise<ShortIds> {
  const taken = submits.map(async submit => {
    const { project } = submit.submission.facts.spec.metadata
    return [submit, `${project}-${await shortNumbers.take(project)}`] as const
  })
  return new Map(await Promise.all(taken))
}

type Group = { submits: readonly Submit[]; places: Places; shortIds: ShortIds }

async function makeJobs(
  deps: SubmitDeps,
  tx: Transaction,
  { submits, places, shortIds }: Group,
  now: Date,
): Promise<Made<AdmissionResult>[]> {
  const made = submits.map(submit => {
    const short_id = shortIds.get(submit)
    if (short_id === undefined) throw new Error('no number was taken for a submit')
    return decideJob(
      deps,
      { submit, short_id, foretold: places.get(submit)?.foretold ?? null },
      now,
    )
  })
  const appends = made.map(({ stream, events, stamp }) => ({
    ...{ stream, events, stamp },
    expectedVersion: 0,
  }))
  await insertJobs(tx, made, deps.sealing)
  await deps.store.appendAll(tx, appends)
  return made.map(job => ({
    answer: resultOf(job, places.get(job.submit)?.view ?? null),
    position: streamPosition(job.stream, job.events.length),
  }))
}

type Deciding = { submit: Submit; short_id: string; foretold: Range | null }

function decideJob(deps: SubmitDeps, { submit, short_id, foretold }: Deciding, now: Date) {
  const { request, submission } = submit
  const { facts } = submission
  const run_id = deps.newId('run')
  const admitted = admittedOf(submission, { run_id, short_id, owner: request.caller.username })
  const stamp = stampOf(request, now)
  const { aggregate, stream } = jobAt(run_id)
  const decide = (job: Job) => admit(job, admitted, holdOf(facts, now))
  return {
    submit,
    facts,
    admitted,
    foretold,
    stream,
    stamp,
    ...decideOn(aggregate, aggregate.initial, { decide, stamp }),
  }
}

/** Creates an admitted job in a separate transaction, with its project if that is new. */
export async function createJob(deps: SubmitDeps, submit: Submit): Promise<AdmissionResult> {
  const { request, submission } = submit
  const { facts } = submission
  const { project } = facts.spec.metadata
  const run_id = submit.run_id ?? deps.newId('run')
  const target = submit.run_id === null ? fresh(jobAt(run_id)) : jobAt(run_id)
  const { caller } = request
  const shortId = shortIdIn(facts.project, deps, { project, caller })
  const place = (await placesOf(deps, [submit])).get(submit)
  return create(deps, request, target, {
    locks: shortId.locks,
    async make(work) {
      const short_id = await shortId.take(work)
      const admitted = admittedOf(submission, { run_id, short_id, owner: caller.username })
      const decided = await work.decide(target, {
        decide: job => admit(job, admitted, holdOf(facts, work.now)),
        alongside: (tx, { state, events, now }) =>
          insertJobs(
            tx,
            [{ facts, admitted, foretold: place?.foretold ?? null, state, events, now }],
            deps.sealing,
          ),
      })
      await requestForJob(deps, work, { facts, admitted })
      return resultOf({ facts, admitted, ...decided }, place?.view ?? null)
    },
  })
}
