import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { type RunEvent, runAt } from '../../events/runs.ts'
import { streamPosition } from '../../platform/position.ts'
import { Refusal } from '../../platform/refusal.ts'
import { type RunInput, runCreated, runInput, tokenIssued } from '../../schemas/runs.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { answerPosition, type Deps, stampOf } from '../deps.ts'
import type { Transaction } from '../event-store.ts'
import { handle } from '../handle.ts'
import { createOnce } from '../idempotency.ts'
import { type RunToActOn, runToActOn } from '../run-to-act-on.ts'
import { takeShortId } from '../short-id.ts'
import { endIngestTokens, type IssuedToken, issueIngestToken } from '../tokens.ts'

export const runRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/runs',
    credential: 'person',
    reach: 'taken',
    tag: 'runs',
    summary: 'Begin a run without a job, for code that runs somewhere else',
    body: runInput,
    response: runCreated,
    refusals: ['forbidden'],
    handle: request => createOnce(deps, request, tx => createRun(deps, request, tx)),
  }),
  route({
    method: 'POST',
    path: '/api/runs/{run_id}/token',
    credential: 'person',
    reach: 'its_owner',
    tag: 'runs',
    summary: 'Issue another ingest token; the old one ends',
    params: runIdInPath,
    response: tokenIssued,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params } = request
      const asked = params.run_id
      const run = await runToActOn(deps.pool, { asked, caller, action: 'issue_token', noun: 'run' })
      refuseWithoutTokens(run)
      const { run_id } = run
      const stamp = stampOf(request, deps.now())
      let answer = {}
      const { position } = await handle(
        deps.store,
        {
          ...runAt(run_id),
          stamp,
          reserve: async tx => {
            await endIngestTokens(tx, run_id, stamp.now)
            const issued = await issueIngestToken(tx, { run_id, now: stamp.now })
            answer = { run_id, ...shown(deps, run_id, issued) }
          },
        },
        (): RunEvent[] => [{ type: 'run.token_issued', data: { run_id } }],
      )
      answerPosition(deps, request, position)
      return answer
    },
  }),
]

type Create = { caller: Person; body: RunInput; requestId: string }

async function createRun(deps: Deps, request: Create, tx: Transaction) {
  const { caller, body } = request
  const { project, name = null, tags = [], notes = '' } = body
  const run_id = deps.newId('run')
  const { stream } = runAt(run_id)
  const stamp = stampOf(request, deps.now())
  const owner = caller.username
  const visibility = deps.config.defaultVisibility
  const short_id = await takeShortId(deps.store, tx, { project, caller, visibility, stamp })
  await tx.query(
    `insert into write.run_state (run_id, short_id, owner, project, source, last_report_at)
     values ($1, $2, $3, $4, 'external', $5)`,
    [run_id, short_id, owner, project, stamp.now],
  )
  const created: RunEvent = {
    type: 'run.created',
    data: { run_id, short_id, project, owner, name, tags, notes },
  }
  await deps.store.append(tx, { stream, expectedVersion: 0, events: [created], stamp })
  const issued = await issueIngestToken(tx, { run_id, now: stamp.now })
  const url = `${deps.baseUrl()}/runs/${run_id}`
  return {
    position: streamPosition(stream, 1),
    answer: { run_id, short_id, project, ...shown(deps, run_id, issued), url },
  }
}

function shown(deps: Deps, run_id: string, { token, expires_at }: IssuedToken) {
  return {
    token,
    expires_at: toTimestamp(expires_at),
    env: {
      SERVICE_ENABLED: '1',
      SERVICE_ENDPOINT: `${deps.baseUrl()}/api/ingest`,
      SERVICE_RUN_ID: run_id,
      SERVICE_TOKEN: token,
    },
  }
}

/** Only live external runs have tokens. */
function refuseWithoutTokens(run: RunToActOn): void {
  if (run.source === 'job')
    throw new Refusal('conflict', 'The run belongs to a job; its token is given to the job alone')
  if (run.ended_at !== null)
    throw new Refusal(
      'conflict',
      `The run ended at ${toTimestamp(run.ended_at)}; begin another one`,
    )
}
