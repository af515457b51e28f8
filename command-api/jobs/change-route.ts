import { type Route, route } from '../../auth/route.ts'
import { type Job, jobAt } from '../../events/job-state.ts'
import { jobChange, jobChangeReply } from '../../schemas/jobs/actions.ts'
import type { Description, RunChange } from '../../schemas/runs/runs.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { Invalid } from '../../schemas/validate.ts'
import { type Asked, answerPosition } from '../commit/asked.ts'
import { commit, transact } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { mergeTags } from '../rules/merge-tags.ts'
import { runToActOn } from '../rules/run-to-act-on.ts'
import { approvalLock, askAgain } from './approval.ts'
import { type Change, change } from './changes.ts'
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
      const { name, tags, priority, state } = await changeJob(deps, request, run_id, wanted)
      const inQueue = state === 'queued' ? await deps.queue.placeOfJob(run_id) : null
      return { run_id, name, tags: [...tags], priority, queue, state, place: inQueue }
    },
  })

/** A changed priority asks again for approvals that were for another one. */
async function changeJob(deps: Deps, request: Asked, run_id: string, wanted: Change): Promise<Job> {
  const { result, position } = await transact(deps, request, {
    target: jobAt(run_id),
    locks: wanted.priority === undefined ? [] : [approvalLock(run_id)],
    async make(work) {
      const decision = { decide: (job: Job) => change(job, wanted), alongside: saveJob }
      const { state, events } = await work.decide(jobAt(run_id), decision)
      const isMoved = events.some(({ type }) => type === 'job.priority_changed')
      return (isMoved && (await askAgain(deps, work, state))) || state
    },
  })
  if (position !== null) answerPosition(request, position)
  return result
}

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
