import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { type RunEvent, runAt } from '../../events/runs.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  type RunInput,
  reportingTo,
  runCreated,
  runInput,
  runStop,
  runStopReply,
  tokenIssued,
} from '../../schemas/runs/runs.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { commit, create, fresh } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { endIngestTokens, type IssuedToken, issueIngestToken } from '../rules/ingest-tokens.ts'
import { type RunToActOn, runToActOn } from '../rules/run-to-act-on.ts'
import { nextShortId } from '../rules/short-id.ts'
import { changeRoute, type DescribeJob, descriptionRoute } from './change-route.ts'
import { stopRun } from './decide.ts'
import { deletionRoutes } from './deletion-routes.ts'
import { endRun } from './report.ts'
import { refuseTooManyUnfinished } from './unfinished.ts'

export type RunPorts = { describeJob: DescribeJob }

export const runRoutes = (deps: Deps, { describeJob }: RunPorts): Route[] => [
  route({
    method: 'POST',
    path: '/api/runs',
    credential: 'person',
    reach: 'taken',
    tag: 'runs',
    summary: 'Create a run without a job, for code that runs elsewhere',
    body: runInput,
    response: runCreated,
    refusals: ['forbidden', 'conflict'],
    handle: request => createRun(deps, request),
  }),
  route({
    method: 'POST',
    path: '/api/runs/{run_id}/token',
    credential: 'person',
    reach: 'its_owner',
    tag: 'runs',
    summary: 'Issue another ingest token; the old one becomes invalid',
    params: runIdInPath,
    response: tokenIssued,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params } = request
      const asked = params.run_id
      const run = await runToActOn(deps.pool, { asked, caller, action: 'issue_token', noun: 'run' })
      refuseWithoutTokens(run)
      const { run_id } = run
      let answer = {}
      await commit(deps, request, runAt(run_id), {
        decide: (): RunEvent[] => [{ type: 'run.token_issued', data: { run_id } }],
        async alongside(tx, { now }) {
          await endIngestTokens(tx, run_id, now)
          const issued = await issueIngestToken(tx, { run_id, now })
          answer = { run_id, ...shown(deps, run_id, issued) }
        },
      })
      return answer
    },
  }),
  stopRoute(deps),
  changeRoute(deps, describeJob),
  descriptionRoute(deps, describeJob),
  ...deletionRoutes(deps),
]

const stopRoute = (deps: Deps): Route =>
  route({
    method: 'POST',
    path: '/api/runs/{run_id}/stop',
    credential: 'person',
    reach: 'its_people',
    tag: 'runs',
    summary: 'Ask the code of a run without a job to end, or end the run without it',
    params: runIdInPath,
    body: runStop,
    bodyMayBeAbsent: true,
    servedOnFullDisk: true,
    response: runStopReply,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const asked = params.run_id
      const run = await runToActOn(deps.pool, { asked, caller, action: 'control', noun: 'run' })
      if (run.source === 'job')
        throw new Refusal('conflict', 'The run belongs to a job; stop that: /api/jobs/…/stop')
      const { run_id } = run
      const { reason = null, force = false } = body
      const { before, state } = await commit(deps, request, runAt(run_id), {
        decide: current => stopRun(current, { run_id, reason, force }),
        async alongside(tx, { now }) {
          const control = force ? 'exit' : 'checkpoint_and_exit'
          await tx.query('update write.run_state set control = $2 where run_id = $1', [
            run_id,
            control,
          ])
          if (force) await endRun(tx, run_id, 'stopped', now)
        },
      })
      const already = before.stop_requested && !force
      return { run_id, state: state.state, accepted: true, already, deadline: null }
    },
  })

type Create = HttpAsked & { caller: Person; body: RunInput }

export async function createRun(deps: Deps, request: Create) {
  const { caller, body } = request
  const { project, name = null, tags = [], notes = '' } = body
  const run_id = deps.newId('run')
  const owner = caller.username
  const target = fresh(runAt(run_id))
  const shortId = await nextShortId(deps, { project, caller })
  return create(deps, request, target, {
    locks: shortId.locks,
    async make(work) {
      const { now } = work
      const short_id = await shortId.take(work)
      const data = { run_id, short_id, project, owner, name, tags, notes }
      await work.decide(target, {
        decide: (): RunEvent[] => [{ type: 'run.created', data }],
        async alongside(tx) {
          await tx.query(
            `insert into write.run_state (run_id, short_id, owner, project, source, last_report_at)
             values ($1, $2, $3, $4, 'external', $5)`,
            [run_id, short_id, owner, project, now],
          )
          await refuseTooManyUnfinished(tx, owner)
        },
      })
      const issued = await issueIngestToken(work.tx, { run_id, now })
      const url = `${deps.baseUrl()}/runs/${run_id}`
      return { run_id, short_id, project, ...shown(deps, run_id, issued), url }
    },
  })
}

function shown(deps: Deps, run_id: string, { token, expires_at }: IssuedToken) {
  const { own, mlflow } = reportingTo(deps.baseUrl(), { run_id, token })
  return {
    token,
    expires_at: toTimestamp(expires_at),
    env: { ...own, ...mlflow },
  }
}

/** Only live external runs have tokens. */
function refuseWithoutTokens(run: RunToActOn): void {
  if (run.source === 'job')
    throw new Refusal('conflict', 'The run belongs to a job; only the job itself gets its token')
  if (run.ended_at !== null)
    throw new Refusal('conflict', `The run ended at ${toTimestamp(run.ended_at)}; start a new one`)
}
