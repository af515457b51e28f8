import { type Route, route } from '../../auth/route.ts'
import { type Run, runAt } from '../../events/runs.ts'
import {
  type Description,
  type RunChange,
  type RunChangeReply,
  runChange,
  runChangeReply,
  runDescription,
  runDescriptionReply,
} from '../../schemas/runs/runs.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import type { Asked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { mergeTags } from '../rules/merge-tags.ts'
import { runToActOn } from '../rules/run-to-act-on.ts'
import { changeRun } from './decide.ts'

/** Describes a job; its run has no name of its own. */
export type DescribeJob = (
  asked: Asked,
  run_id: string,
  change: RunChange & Pick<Description, 'add_tags'>,
) => Promise<Omit<RunChangeReply, 'run_id'>>

export const changeRoute = (deps: Deps, describeJob: DescribeJob): Route =>
  route({
    method: 'PATCH',
    path: '/api/runs/{run_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'runs',
    summary: 'Change the name, tags or notes of a run, star it or archive it',
    params: runIdInPath,
    body: runChange,
    response: runChangeReply,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const { run_id, source } = await runToActOn(deps.pool, {
        asked: params.run_id,
        caller,
        action: 'control',
        noun: 'run',
      })
      return {
        run_id,
        ...(await describeRun(deps, describeJob)(request, { run_id, source }, body)),
      }
    },
  })

/** Running code describes its own run. */
export const descriptionRoute = (deps: Deps, describeJob: DescribeJob): Route =>
  route({
    method: 'POST',
    path: '/api/ingest/description',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'Rename, tag or annotate a run',
    body: runDescription,
    response: runDescriptionReply,
    refusals: ['forbidden', 'conflict'],
    async handle(request) {
      const { source } = await deps.reports.admit(request)
      const { run_id, ...change } = request.body
      const { name, tags, notes } = await describeRun(deps, describeJob)(
        request,
        { run_id, source },
        change,
      )
      return { ok: true, name, tags, notes }
    },
  })

/** Describes a run with or without a job. */
export const describeRun =
  (deps: Deps, describeJob: DescribeJob) =>
  async (asked: Asked, { run_id, source }: Described, change: RunChange & Added) => {
    if (source === 'job') return describeJob(asked, run_id, change)
    const { state } = await commit(deps, asked, runAt(run_id), {
      decide: current => changeRun(current, run_id, mergeTags(change, current.tags)),
    })
    return described(state)
  }

type Added = Pick<Description, 'add_tags'>
type Described = { run_id: string; source: 'job' | 'external' }

const described = ({ name, tags, notes, starred, archived }: Run) => ({
  ...{ name, notes, starred, archived },
  tags: [...tags],
})
