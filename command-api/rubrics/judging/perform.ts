import { type JudgingRequest, judgingAt } from '../../../events/judgings.ts'
import { type RubricContent, rubricAt } from '../../../events/rubrics.ts'
import { Refusal } from '../../../platform/refusal.ts'
import type { ValidationSample } from '../../../schemas/validation.ts'
import { loadState } from '../../commit/snapshots.ts'
import type { Deps } from '../../deps.ts'
import { type Change, decided, nothing, type Outcome } from '../../effects/outcome.ts'
import { reactor } from '../../effects/reactor.ts'
import { whileWanted } from '../../effects/while-wanted.ts'
import { roleIfEnabled } from '../../rules/enabled-person.ts'
import { runToActOn } from '../../rules/run-to-act-on.ts'
import { type Answer, askJudge, type Judge } from './ask.ts'
import { atOnce } from './at-once.ts'
import { endJudging } from './decide.ts'
import { judgeName, judgeOf } from './judge-of.ts'
import type { JudgeDeployment } from './port.ts'
import { sampleDigest } from './question.ts'
import {
  closeJudging,
  countOutcomes,
  isJudging,
  keepAnswer,
  keepKnown,
  outcomesOf,
  setSamples,
} from './rows.ts'

/** Requests to a judge at once, and how many may fail in a row before a judging is given up. */
const concurrency = 4
const mostFailures = 8
const trying = { attempts: 3, timeoutMs: 120_000 }

type Find = (
  deps: Deps,
  caller: { username: string; role: 'admin' | 'operator' },
  asked: string,
) => Promise<JudgeDeployment>

/**
 * Judges the samples of a round. Each outcome is stored as soon as it is known, so that a killed process leaves only samples without
 * an outcome, which the next attempt asks about.
 */
export const sampleJudge = (findJudge: Find) =>
  reactor<JudgingRequest, Deps>({
    name: 'judge-samples',
    repeat: 'ask first',
    dutiesOf: ({ type, data }) => (type === 'judging.requested' ? [{ payload: data }] : []),
    deadlineMs: 3_600_000,
    renewMs: 10_000,
    atOnce: 2,
    async perform({ payload }, deps, signal): Promise<Outcome> {
      const { judging_id } = payload
      const { state } = await loadState(deps.store, undefined, judgingAt(judging_id))
      if (!state?.isOpen) return nothing
      const isWanted = () => isJudging(deps.pool, judging_id)
      const judged = await whileWanted({ signal, isWanted }, async stop => ({
        reason: await judgeAll(deps, payload, { findJudge, signal: stop }),
      }))
      return judged === null ? nothing : [await end(deps, payload, judged.reason)]
    },
    // An open judging would refuse the next one of these samples.
    givenUp: async ({ payload }, deps) => [
      await end(deps, payload, 'an internal fault; the log of the server has it'),
    ],
  })

async function end(
  { pool }: Deps,
  { judging_id }: JudgingRequest,
  reason: string | null,
): Promise<Change> {
  const counts = await countOutcomes(pool, judging_id)
  return decided(judgingAt(judging_id), {
    decide: judging => endJudging(judging, { judging_id, reason, ...counts }),
    alongside: closeJudging,
  })
}

type Running = { findJudge: Find; signal: AbortSignal }

/** Null once every sample has an outcome; otherwise why it was given up. */
async function judgeAll(
  deps: Deps,
  request: JudgingRequest,
  { findJudge, signal }: Running,
): Promise<string | null> {
  try {
    const judge = await judgeStillAllowed(deps, request, findJudge)
    const rubric = await currentRubric(deps, request)
    const counting = { failures: 0 }
    // Page by page, because a round may be larger than the memory.
    for (let offset = 0; offset < request.limit; ) {
      const page = await deps.readRound({ ...request, offset, limit: request.limit - offset })
      if (!page || page.samples.length === 0) break
      await setSamples(deps.pool, request.judging_id, Math.min(page.total, request.limit))
      await judgePage(deps, request, { rubric, judge, samples: page.samples, counting, signal })
      offset += page.samples.length
    }
    return null
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof GivenUp || error instanceof Refusal) return error.message
    throw error
  }
}

type Page = Pick<One, 'rubric' | 'judge' | 'signal'> & {
  samples: readonly ValidationSample[]
  /** Failures in a row of a judge that may be gone. */
  counting: { failures: number }
}

async function judgePage(
  deps: Deps,
  request: JudgingRequest,
  { samples, counting, ...how }: Page,
): Promise<void> {
  const known = await outcomesOf(deps.pool, request.judging_id)
  const waiting = samples.filter(({ sample_id }) => !known.has(sample_id))
  // Equal samples are judged once.
  const groups = [...Map.groupBy(waiting, sampleDigest)]
  await atOnce(groups, concurrency, async ([digest, same]) => {
    how.signal.throwIfAborted()
    const answer = await judgeOne(deps, request, { ...how, digest, same })
    const isGone = answer?.ok === false && answer.isGone
    counting.failures = isGone ? counting.failures + 1 : 0
    if (isGone && counting.failures >= mostFailures) throw new GivenUp(answer.error)
  })
}

/** A retry of the duty would come to the same. */
class GivenUp extends Error {}

/** Rights may end, and another revision may be promoted, while a judging waits. */
async function judgeStillAllowed(
  deps: Deps,
  request: JudgingRequest,
  findJudge: Find,
): Promise<Judge> {
  const { username, run_id, deployment_id, revision_id, model } = request
  const role = await roleIfEnabled(deps.pool, username)
  if (role === null) throw new GivenUp(`${username} may no longer sign in`)
  const caller = { username, role }
  await runToActOn(deps.pool, { asked: run_id, caller, action: 'read', noun: 'run' })
  const { url } = await findJudge(deps, caller, deployment_id)
  return judgeOf(deps, { deployment_id, revision_id, model, url }, request.judging_id)
}

async function currentRubric(
  { store }: Deps,
  { rubric_owner: owner, rubric: name, version }: JudgingRequest,
): Promise<RubricContent> {
  const { state } = await loadState(store, undefined, rubricAt({ owner, name }))
  const content = state?.content
  if (content?.version !== version)
    throw new GivenUp(`${owner}/${name} is at version ${content?.version}, no longer ${version}`)
  return content
}

type One = {
  rubric: RubricContent
  judge: Judge
  digest: string
  same: readonly ValidationSample[]
  signal: AbortSignal
}

/** Null if the score was known. */
async function judgeOne(
  deps: Deps,
  request: JudgingRequest,
  { rubric, judge, digest, same, signal }: One,
): Promise<Answer | null> {
  const [sample] = same
  if (!sample) return null
  const of = {
    ...{ judging_id: request.judging_id, judge: judgeName(request), sample: digest },
    sample_ids: same.map(({ sample_id }) => sample_id),
  }
  if (await keepKnown(deps.pool, rubric, of)) return null
  const answer = await askJudge(judge, rubric, sample, { ...trying, signal })
  await keepAnswer(deps, rubric, of, answer)
  return answer
}
