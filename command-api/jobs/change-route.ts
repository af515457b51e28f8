import { type Route, route } from '../../auth/route.ts'
import { jobAt } from '../../events/job-state.ts'
import { jobChange, jobChangeReply } from '../../schemas/jobs/actions.ts'
import type { Description, RunChange } from '../../schemas/runs/runs.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { Invalid } from '../../schemas/validate.ts'
import type { Asked } from '../commit/asked.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { mergeTags } from '../rules/merge-tags.ts'
import { runToActOn } from '../rules/run-to-act-on.ts'
import { change } from './changes.ts'
import { saveJob } from './rows.ts'

export const changeRoute = (deps: Deps): Route =>
  route({
    method: 'PATCH',
    path: '/api/jobs/{run_id}',
    credential: 'person',
    reach: 'its_people',
    tag: 'jobs',
    summary: 'Change the name, tags or priority of a job',
    params: runIdInPath,
    body: jobChange,
    response: jobChangeReply,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      const { queue = 'default', ...wanted } = body
      const { run_id } = await runToActOn(deps.pool, {
        asked: params.run_id,
        caller,
        action: 'control',
        noun: 'job',
      })
      const { state: job } = await commit(deps, request, jobAt(run_id), {
        decide: current => change(current, wanted),
        alongside: saveJob,
      })
      const { name, tags, priority, state } = job
      const inQueue = state === 'queued' ? await deps.queue.placeOfJob(run_id) : null
      return { run_id, name, tags: [...tags], priority, queue, state, place: inQueue }
    },
  })

/** Describes a job for the route of its run. */
export const describeJob =
  (deps: Deps) =>
  async (
    asked: Asked,
    run_id: string,
    { name, ...others }: RunChange & Pick<Description, 'add_tags'>,
  ) => {
    if (name === null)
      throw new Invalid([
        { loc: ['body', 'name'], msg: 'A job always has a name', type: 'value_error', input: name },
      ])
    const { state: job } = await commit(deps, asked, jobAt(run_id), {
      decide: current =>
        change(current, {
          ...mergeTags(others, current.tags),
          ...(name !== undefined && { name }),
        }),
      alongside: saveJob,
    })
    const { tags, notes, starred, archived } = job
    return { name: job.name, tags: [...tags], notes, starred, archived }
  }
