import { createHash } from 'node:crypto'
import {
  type DiagnosisCompleted,
  type DiagnosisRequested,
  diagnosesOf,
} from '../../events/diagnoses.ts'
import type { Observe } from '../../events/diagnosis-facts.ts'
import { pause } from '../../platform/pause.ts'
import type { Suggestion, Verdict } from '../../schemas/diagnoses.ts'
import type { JobSpec } from '../../schemas/jobs/jobspec.ts'
import type { Deps } from '../deps.ts'
import { decided, nothing, type Outcome } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { completeDiagnosis, ofAlert, requestDiagnosis } from './decide.ts'
import { factsAbout } from './facts.ts'
import { isAccepted } from './patch.ts'
import { type Failed, failuresOf, requestsOf } from './react.ts'
import { newDiagnosisId, subjectOf } from './request.ts'
import { diagnose, type Judged, rulesVersion } from './rules/diagnose.ts'

type Needed = Pick<Deps, 'pool' | 'store' | 'now'> & { observe: Observe }

/** Requests a diagnosis of every failed run. */
export const diagnosisRequester = reactor<Failed, Needed>({
  name: 'diagnose-failures',
  repeat: 'local',
  dutiesOf: failuresOf,
  async perform({ payload: { run_id, attempt, isAlert } }, { pool, now }): Promise<Outcome> {
    const subject = await subjectOf(pool, run_id)
    if (subject === null) return nothing
    const request: DiagnosisRequested = {
      ...subject,
      // An alert may be about an earlier attempt; the diagnosis must look at the current one.
      attempt: isAlert ? subject.attempt : attempt,
      diagnosis_id: await newDiagnosisId(pool),
      trigger: 'auto',
      requested_by: isAlert ? ofAlert : 'forge',
    }
    return [
      decided(diagnosesOf(run_id), { decide: state => requestDiagnosis(state, request, now()) }),
    ]
  },
})

/** A failure of the last attempt becomes the result: it is shown, and can be requested again. */
const attempts = 4
/** Leaves the rest of the deadline for recording that it took too long. */
const withinMs = 20_000

/** Makes diagnoses. A run whose log cannot be read holds up none of the others. */
export const diagnoser = reactor<DiagnosisRequested, Needed>({
  name: 'diagnose',
  repeat: 'local',
  attempts,
  // Most of the time they wait for the end of a log, which is noted 5 s after that of the run.
  atOnce: 16,
  dutiesOf: requestsOf,
  async perform({ payload, attempt }, deps, signal): Promise<Outcome> {
    const started_at = deps.now().toISOString()
    const result = await inTime(verdictOn(payload, deps, signal), signal).catch(error => {
      if (attempt < attempts) throw error
      return failure(error)
    })
    const { source: _, requested_by: __, ...named } = payload
    const completed: DiagnosisCompleted = {
      ...named,
      ...result,
      started_at,
      analyzer: { rules: rulesVersion, llm: null },
    }
    const decide = (state: Parameters<typeof completeDiagnosis>[0]) =>
      completeDiagnosis(state, completed)
    return [decided(diagnosesOf(payload.run_id), { decide })]
  },
})

type Result = Pick<DiagnosisCompleted, 'verdict' | 'error'>

/** Longer messages are cut, in characters. */
const maxError = 300

const failure = (error: unknown): Result => ({
  verdict: null,
  error: `The facts could not be read: ${error instanceof Error ? error.message.slice(0, maxError).toWellFormed() : 'unknown'}`,
})

async function inTime(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const done = new AbortController()
  const late = pause(withinMs, AbortSignal.any([signal, done.signal])).then(() => {
    throw new Error(`no result within ${withinMs / 1000} s`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    late.catch(() => {})
    work.catch(() => {})
    done.abort()
  }
}

async function verdictOn(
  request: DiagnosisRequested,
  deps: Needed,
  signal: AbortSignal,
): Promise<Result> {
  const before = await factsAbout(deps, request, deps.now())
  const isEnded = !['running', 'pending', 'starting', 'scheduled', 'queued'].includes(before.state)
  const { run_id, attempt } = request
  const observed = await deps.observe({ run_id, attempt, isEnded }, signal)
  // Read again, because the process may have ended after the job did.
  const facts = await factsAbout(deps, request, deps.now())
  return { verdict: toVerdict(diagnose({ ...facts, ...observed }), facts.spec), error: null }
}

const fingerprintLength = 16

/** Keeps only patches after which the spec is still valid. */
function toVerdict({ sameness, ...judged }: Judged, spec: JobSpec | null): Verdict {
  const isUsable = ({ patch }: Suggestion) => patch === null || isAccepted(spec, patch)
  const digest = createHash('sha256').update(sameness).digest('hex')
  return {
    ...judged,
    suggestions: judged.suggestions.filter(isUsable),
    fingerprint: `fp_${digest.slice(0, fingerprintLength)}`,
  }
}
