import { type Route, route } from '../../auth/route.ts'
import { rubricAt } from '../../events/rubrics.ts'
import { rubricPath } from '../../schemas/rubrics/rubrics.ts'
import {
  maxScoresBodyBytes,
  type ScoresInput,
  type ScoresReply,
  scoresFound,
  scoresInput,
  scoresLookup,
  scoresOfRunInput,
  scoresOfRunLookup,
  scoresReply,
} from '../../schemas/rubrics/scores.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { transact } from '../commit/commit.ts'
import { loadState } from '../commit/snapshots.ts'
import type { Deps } from '../deps.ts'
import { type Name, nameIn, type Reader, readRubric, shownTo } from './find.ts'
import { checkScores, findScores, storeScores } from './scores.ts'

/** Routes for scores that judges gave by a rubric, for people and for the code of their runs. */
export const rubricScoreRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/rubrics/{owner}/{name}/scores',
    credential: 'person',
    reach: 'its_people',
    tag: 'rubrics',
    summary: 'Keep scores that a judge gave by the current version of a rubric',
    params: rubricPath,
    body: scoresInput,
    bodyLimitBytes: maxScoresBodyBytes,
    response: scoresReply,
    refusals: ['not_found', 'conflict'],
    handle: request => keep(deps, request, { of: request.params, reader: request.caller }),
  }),
  route({
    method: 'POST',
    path: '/api/rubrics/{owner}/{name}/scores/lookup',
    credential: 'person',
    reach: 'its_people',
    tag: 'rubrics',
    summary: 'Look up scores that a judge gave by the current version of a rubric',
    params: rubricPath,
    body: scoresLookup,
    response: scoresFound,
    refusals: ['not_found'],
    handle: async ({ caller, params, body }) =>
      findScores(deps.pool, await readRubric(deps, params, caller), body),
  }),
  route({
    method: 'POST',
    path: '/api/ingest/rubric/scores',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'Keep scores that the code of a run had a judge give by a rubric',
    body: scoresOfRunInput,
    bodyLimitBytes: maxScoresBodyBytes,
    response: scoresReply,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      await deps.reports.admit(request)
      const reader = await ownerOf(deps, request.body.run_id)
      return keep(deps, request, { of: nameIn(request.body.rubric), reader })
    },
  }),
  route({
    method: 'POST',
    path: '/api/ingest/rubric/scores/lookup',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'Look up scores of a rubric for the code of a run',
    body: scoresOfRunLookup,
    response: scoresFound,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      await deps.reports.admit(request)
      const { run_id, rubric } = request.body
      const reader = await ownerOf(deps, run_id)
      return findScores(deps.pool, await readRubric(deps, nameIn(rubric), reader), request.body)
    },
  }),
]

async function keep(
  deps: Deps,
  request: HttpAsked & { body: ScoresInput },
  { of, reader }: { of: Name; reader: Reader },
): Promise<ScoresReply> {
  const { body } = request
  const stream = rubricAt(of)
  const { result } = await transact(deps, request, {
    target: stream,
    locks: [],
    async make({ tx, now }) {
      const { state } = await loadState(deps.store, tx, stream)
      const rubric = shownTo(reader, of, state?.content ?? null)
      checkScores(rubric, body)
      return { version: rubric.version, ...(await storeScores(tx, rubric, body, now)) }
    },
  })
  return { ok: true, ...result }
}

/** Running code reads the rubrics that the owner of its run reads, but for those shown to admins only. */
async function ownerOf({ pool }: Deps, run_id: string): Promise<Reader> {
  const { rows } = await pool.query<{ owner: string }>(
    `select owner from write.resource where kind = 'run' and id = $1`,
    [run_id],
  )
  return { username: rows[0]?.owner ?? '', role: 'operator' }
}
