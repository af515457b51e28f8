import type { Submitter } from '../../auth/caller.ts'
import { jobAt } from '../../events/job-state.ts'
import { findRecipe } from '../../recipes/catalogue.ts'
import type { ApprovalRule } from '../../schemas/approvals.ts'
import { type Estimate, isEnded } from '../../schemas/jobs/jobs.ts'
import type { JobSpec } from '../../schemas/jobs/jobspec.ts'
import type { JobState } from '../../schemas/jobs/states.ts'
import type { LookedStage, SeenFact } from '../../schemas/plans.ts'
import { type CommitDeps, commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { rulesFor } from './admission/approval.ts'
import { estimateOf } from './admission/estimate.ts'
import type { AdmissionFacts } from './admission/facts.ts'
import { warningsOf } from './admission/warnings.ts'
import { stop } from './decide.ts'
import type { JobPorts } from './ports.ts'
import { saveJob } from './rows.ts'
import { openSubmits } from './submit.ts'

type Look = { caller: Submitter; isInherited: boolean }
type Assignments = { assignments: readonly Record<string, unknown>[] }
type Planned = Look & {
  run_id: string
  spec: JobSpec
  isApproved: boolean
  check: (seen: readonly SeenFact[]) => void
}

/** The jobs of plans, which pass the same gates as everybody's. */
export function jobsOfPlans(deps: Deps, ports: JobPorts) {
  const submits = openSubmits(deps, ports)
  const exists = async (run_id: string) => (await statesOf(deps, [run_id])).has(run_id)
  return {
    async lookAtJob(
      spec: JobSpec,
      look: Look & Assignments,
    ): Promise<{ looked: LookedStage; rules: ApprovalRule[] }> {
      const { caller, assignments } = look
      const asked = withParams(spec, await firstRefused(ports, spec, assignments))
      const { facts, gates } = await submits.tryOut(asked, caller)
      const refusals = gates.flatMap(({ gate, ok, code = 'refused' }): SeenFact[] =>
        ok ? [] : [{ what: 'gate', name: gate, is: code }],
      )
      return {
        looked: {
          gates,
          warnings: warningsOf(facts),
          estimate: timesRuns(estimateOf(facts), assignments.length),
          seen: [...seenIn(facts, look), ...refusals],
        },
        rules: rulesFor(facts, assignments.length),
      }
    },
    async submit({ run_id, spec, caller, isInherited, isApproved, check }: Planned): Promise<void> {
      if (await exists(run_id)) return
      const beside = {
        ...{ run_id, isApproved },
        check: (facts: AdmissionFacts) => check(seenIn(facts, { isInherited })),
      }
      try {
        await submits.submit(askedFor(run_id, caller), spec, beside)
      } catch (error) {
        // Another process may have submitted it.
        if (!(await exists(run_id))) throw error
      }
    },
    statesOf: (run_ids: readonly string[]) => statesOf(deps, run_ids),
    stop: (run_id: string, why: string) => stopRun(deps, run_id, why),
  }
}

const withParams = ({ spec, ...rest }: JobSpec, params: Record<string, unknown>): JobSpec => ({
  ...rest,
  spec: { ...spec, params: { ...spec.params, ...params } },
})

/** The first parameters that the recipe refuses, or else the first of all: the gates then speak for every run of a sweep. */
async function firstRefused(
  { catalogue }: JobPorts,
  { lock, spec }: JobSpec,
  assignments: Assignments['assignments'],
): Promise<Record<string, unknown>> {
  const entry = findRecipe(await catalogue.including(lock), lock.name, lock.version)
  const isRefused = (params: Record<string, unknown>) =>
    entry?.resolveParams({ ...spec.params, ...params }).ok === false
  return assignments.find(isRefused) ?? assignments[0] ?? {}
}

const timesRuns = (estimate: Estimate | null, runs: number): Estimate | null =>
  estimate && runs > 1
    ? {
        ...estimate,
        gpu_hours: (Number(estimate.gpu_hours) * runs).toFixed(2),
        cost: (Number(estimate.cost) * runs).toFixed(2),
        basis: `${estimate.basis}, ${runs} times`,
      }
    : estimate

const unversioned = (ref: string) => ref.split('@')[0] ?? ref

/** What decides what a job would run, and at which price, apart from its own text. */
function seenIn(facts: AdmissionFacts, { isInherited }: Pick<Look, 'isInherited'>): SeenFact[] {
  const { recipe, profile, resolved } = facts
  const { model, environments, source } = facts.spec.spec
  const reference = (name: string, is: string | null | undefined): SeenFact[] =>
    is ? [{ what: 'reference', name, is }] : []
  return [
    ...(recipe
      ? [{ what: 'recipe' as const, name: recipe.name, is: `${recipe.version} ${recipe.digest}` }]
      : []),
    ...(profile
      ? [{ what: 'price' as const, name: profile.name, is: profile.price_per_gpu_hour }]
      : []),
    ...(profile
      ? [
          {
            what: 'profile' as const,
            name: profile.name,
            is: `${profile.series}, ${profile.gpus_per_node} GPUs per node, ${profile.executor}`,
          },
        ]
      : []),
    ...resolved.datasets.flatMap(({ ref, digest }) =>
      reference(`dataset ${unversioned(ref)}`, `${ref} ${digest}`),
    ),
    ...environments.flatMap(({ ref, digest }) => reference(`RL environment ${ref}`, digest)),
    ...(model ? reference(`model ${unversioned(model.ref)}`, model.ref) : []),
    ...(model?.adapter ? reference(`adapter ${unversioned(model.adapter)}`, model.adapter) : []),
    ...reference('package', source.kind === 'package' ? source.digest : null),
    ...reference('init_from', isInherited ? null : resolved.init_from?.artifact_id),
  ]
}

async function statesOf(
  { pool }: Pick<Deps, 'pool'>,
  run_ids: readonly string[],
): Promise<Map<string, JobState>> {
  const { rows } = await pool.query<{ run_id: string; state: JobState }>({
    name: 'states_of_jobs',
    text: 'select run_id, state from write.job_state where run_id = any($1)',
    values: [run_ids],
  })
  return new Map(rows.map(({ run_id, state }) => [run_id, state]))
}

/** A request as if its submitter had sent it. */
function askedFor(run_id: string, caller: Submitter) {
  const ctx = { method: 'POST', path: 'plans', get: () => '', set: () => {} }
  return { caller, requestId: run_id, ctx }
}

const cause = {
  actor: { type: 'system', id: 'plans', via: 'duty' },
  requestId: 'plans',
} as const

async function stopRun(deps: CommitDeps, run_id: string, message: string): Promise<void> {
  await commit(deps, cause, jobAt(run_id), {
    decide: (job, now) =>
      job.state === null || isEnded(job.state)
        ? []
        : stop(job, { message, graceSeconds: null, force: false, now }),
    alongside: saveJob,
  })
}
