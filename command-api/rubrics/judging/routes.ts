import type { Person } from '../../../auth/caller.ts'
import { type Route, route } from '../../../auth/route.ts'
import { judgingAt } from '../../../events/judgings.ts'
import { Refusal } from '../../../platform/refusal.ts'
import {
  judgingCancelled,
  judgingCreated,
  judgingInput,
  judgingPath,
  type RubricTested,
  type RubricTestInput,
  rubricTested,
  rubricTestInput,
} from '../../../schemas/rubrics/judgings.ts'
import { rubricPath } from '../../../schemas/rubrics/rubrics.ts'
import { runIdInPath } from '../../../schemas/shared.ts'
import type { ValidationSample } from '../../../schemas/validation.ts'
import { commit, create, fresh } from '../../commit/commit.ts'
import type { Deps } from '../../deps.ts'
import { runToActOn } from '../../rules/run-to-act-on.ts'
import { nameIn, readRubric } from '../find.ts'
import { askJudge } from './ask.ts'
import { atOnce } from './at-once.ts'
import { cancelJudging, requestJudging } from './decide.ts'
import { judgeName, judgeOf } from './judge-of.ts'
import type { JudgePorts } from './port.ts'
import type { Standard } from './question.ts'
import { closeJudging, findJudging, insertJudging } from './rows.ts'

const concurrency = 4
/** A test takes at most this long; samples without a score by then have none. */
const testMs = 55_000
const trying = { attempts: 2, timeoutMs: 30_000 }

export const judgingRoutes = (deps: Deps, { findJudge }: JudgePorts): Route[] => [
  route({
    method: 'POST',
    path: '/api/rubrics/{owner}/{name}/test',
    credential: 'person',
    reach: 'its_people',
    tag: 'rubrics',
    summary: 'Let a deployment judge a few samples by a rubric, and store nothing',
    params: rubricPath,
    body: rubricTestInput,
    response: rubricTested,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle({ caller, params, body }) {
      const rubric = await readRubric(deps, params, caller)
      const found = await findJudge(caller, body.judge)
      const judge = judgeOf(deps, found, deps.newId('jdg'))
      const { step, samples } = await roundOf(deps, caller, body)
      const results = await scoreAll(judge, body.draft ?? rubric, samples)
      return { version: rubric.version, step, judge: judgeName(found), results }
    },
  }),
  route({
    method: 'POST',
    path: '/api/runs/{run_id}/judgings',
    credential: 'person',
    reach: 'its_people',
    tag: 'validation',
    summary: 'Let a deployment judge the samples of a validation round by a rubric',
    params: runIdInPath,
    body: judgingInput,
    response: judgingCreated,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const asked = { ...body, run_id: params.run_id, limit: 1 }
      const { run_id, step } = await roundOf(deps, caller, asked)
      const { owner, name, version } = await readRubric(deps, nameIn(body.rubric), caller)
      const { deployment_id, revision_id, model } = await findJudge(caller, body.judge)
      const judging_id = deps.newId('jdg')
      const made = {
        ...{ judging_id, run_id, step, rubric_owner: owner, rubric: name, version },
        ...{ deployment_id, revision_id, model, limit: body.limit, username: caller.username },
      }
      const target = fresh(judgingAt(judging_id))
      return create(deps, request, target, {
        locks: [`judging ${run_id}`],
        async make(work) {
          await refuseSecond(work.tx, made)
          await work.decide(target, {
            decide: judging => requestJudging(judging, made),
            alongside: (tx, { now }) => insertJudging(tx, made, now),
          })
          const rubric = `${owner}/${name}`
          return { judging_id, run_id, step, rubric, version, state: 'running' as const }
        },
      })
    },
  }),
  cancelRoute(deps),
]

const cancelRoute = (deps: Deps): Route =>
  route({
    method: 'POST',
    path: '/api/runs/{run_id}/judgings/{judging_id}/cancel',
    credential: 'person',
    reach: 'its_people',
    tag: 'validation',
    summary: 'Cancel a judging; the scores so far are kept',
    params: judgingPath,
    response: judgingCancelled,
    refusals: ['forbidden', 'not_found'],
    async handle(request) {
      const { caller, params } = request
      const { judging_id } = params
      await refuseUnlessMayCancel(deps, caller, params)
      const { events } = await commit(deps, request, judgingAt(judging_id), {
        decide: judging => cancelJudging(judging, judging_id),
        alongside: closeJudging,
      })
      return { judging_id, changed: events.length > 0 }
    },
  })

/** The requester may, and everybody who may control the run. */
async function refuseUnlessMayCancel(
  { pool }: Deps,
  caller: Person,
  { run_id: asked, judging_id }: { run_id: string; judging_id: string },
): Promise<void> {
  const of = { asked, caller, noun: 'run' } as const
  const { run_id } = await runToActOn(pool, { ...of, action: 'read' })
  const found = await findJudging(pool, { run_id, judging_id }, caller)
  if (!found) throw new Refusal('not_found', `No such judging: ${judging_id}`)
  if (found.username !== caller.username) await runToActOn(pool, { ...of, action: 'control' })
}

type Round = Pick<RubricTestInput, 'run_id' | 'step' | 'limit'>

/** The first samples of a round that the caller may read; the newest round if no step is given. */
async function roundOf(deps: Deps, caller: Person, { run_id: asked, step = null, limit }: Round) {
  const { run_id } = await runToActOn(deps.pool, { asked, caller, action: 'read', noun: 'run' })
  const round = await deps.readRound({ run_id, step, offset: 0, limit })
  if (!round)
    throw new Refusal(
      'not_found',
      step === null ? `No validation samples in run ${asked}` : `No such validation round: ${step}`,
    )
  return { run_id, step: round.step, samples: round.samples }
}

async function scoreAll(
  judge: Parameters<typeof askJudge>[0],
  standard: Standard,
  samples: readonly ValidationSample[],
): Promise<RubricTested['results']> {
  const late = AbortSignal.timeout(testMs)
  const results = new Map<string, RubricTested['results'][number]>()
  await atOnce(samples, concurrency, async sample => {
    const { sample_id, user, assistant } = sample
    const answer = await askJudge(judge, standard, sample, { ...trying, signal: late }).catch(
      (error: unknown) => {
        if (!late.aborted) throw error
        return { ok: false as const, error: `no score within ${testMs / 1000} s` }
      },
    )
    results.set(sample_id, {
      ...{ sample_id, user: user?.slice(0, shownChars) ?? null },
      assistant: assistant?.slice(0, shownChars) ?? null,
      ...(answer.ok
        ? { ...answer.score, error: null }
        : { score: null, criteria: {}, reason: null, error: answer.error }),
    })
  })
  return samples.flatMap(({ sample_id }) => results.get(sample_id) ?? [])
}

/** How much of a text a test returns. */
const shownChars = 2000

async function refuseSecond(
  tx: Parameters<typeof insertJudging>[0],
  of: Parameters<typeof insertJudging>[1],
): Promise<void> {
  const { rows } = await tx.query<{ judging_id: string }>(
    `select judging_id from write.judging
      where run_id = $1 and step = $2 and rubric_owner = $3 and rubric = $4 and revision_id = $5 and state = 'running'`,
    [of.run_id, of.step, of.rubric_owner, of.rubric, of.revision_id],
  )
  const [open] = rows
  if (open)
    throw new Refusal('conflict', `${open.judging_id} is judging these samples already`, {
      code: 'judging.running',
      data: { judging_id: open.judging_id },
    })
}
