import { projectAt } from '../../events/projects.ts'
import { Refusal } from '../../platform/refusal.ts'
import { isProjectName } from '../../schemas/runs.ts'
import { create } from '../commit.ts'
import type { Deps } from '../deps.ts'
import { createEmptyProject } from '../short-id.ts'
import type { MlflowRequest } from './target.ts'

/** Creates a project of the caller. Running code has its project already, whatever it wants to call it. */
export async function createExperiment(
  deps: Deps,
  request: MlflowRequest & { body: { name: string } },
): Promise<{ experiment_id: string }> {
  const { caller, body } = request
  if (caller.kind === 'run') {
    const { rows } = await deps.pool.query<{ project: string }>(
      'select project from write.run_state where run_id = $1',
      [caller.runId],
    )
    return { experiment_id: rows[0]?.project ?? '' }
  }
  const { name: project } = body
  if (!isProjectName(project))
    throw new Refusal(
      'invalid',
      `'${project}' cannot be the name of a project: 1 to 63 of a-z, 0-9, '_', '.' and '-', beginning with a letter or digit`,
    )
  return create(deps, request, projectAt(project), {
    locks: [],
    async make(work) {
      if (!(await createEmptyProject(deps, work, { project, caller })))
        throw new Refusal('invalid', `Experiment(name=${project}) already exists.`, {
          fields: { error_code: 'RESOURCE_ALREADY_EXISTS' },
        })
      return { experiment_id: project }
    },
  })
}
