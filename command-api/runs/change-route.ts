import { type Route, route } from '../../auth/route.ts'
import { type Run, runAt } from '../../events/runs.ts'
import {
  type RunChange,
  type RunChangeReply,
  runChange,
  runChangeReply,
} from '../../schemas/runs/runs.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import type { Asked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { runToActOn } from '../rules/run-to-act-on.ts'
import { changeRun } from './decide.ts'

/** Describes a job; its run has no name of its own. */
export type DescribeJob = (
  asked: Asked,
  run_id: string,
  change: RunChange,
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
      if (source === 'job') return { run_id, ...(await describeJob(request, run_id, body)) }
      const { state } = await commit(deps, request, runAt(run_id), {
        decide: current => changeRun(current, run_id, body),
      })
      return { run_id, ...described(state) }
    },
  })

const described = ({ name, tags, notes, starred, archived }: Run) => ({
  ...{ name, notes, starred, archived },
  tags: [...tags],
})
