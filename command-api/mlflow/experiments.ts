import { experimentAt, mlflowAt } from '../../events/mlflow.ts'
import { type ProjectEvent, projectAt } from '../../events/projects.ts'
import { Refusal } from '../../platform/refusal.ts'
import { experimentNameTag, projectOfExperiment } from '../../schemas/mlflow.ts'
import { isProjectName } from '../../schemas/runs/runs.ts'
import { commit, create, type Work } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { judge, type ProjectFacts, rolesIn } from '../rules/access.ts'
import { createEmptyProject, projectFacts } from '../rules/short-id.ts'
import { setTags, tagExperiment } from './decide.ts'
import { admit, type MlflowPorts, type MlflowRequest } from './target.ts'

/** Creates a project of the caller. Running code already has its project, whatever name it asks for. */
export async function createExperiment(
  deps: Deps,
  ports: MlflowPorts,
  request: MlflowRequest & { body: { name: string } },
): Promise<{ experiment_id: string }> {
  const { caller, body } = request
  if (caller.kind === 'run') {
    const { run_id } = await admit(deps, ports, request, caller.runId)
    const { rows } = await deps.pool.query<{ project: string }>(
      `select project from write.resource where kind = 'run' and id = $1`,
      [run_id],
    )
    return { experiment_id: rows[0]?.project ?? '' }
  }
  const { name } = body
  const project = projectOfExperiment(name)
  if (!isProjectName(project))
    throw new Refusal(
      'invalid',
      `'${name}' cannot be the name of a project: 1 to 63 of a-z, 0-9, '_', '.' and '-', beginning with a letter or digit`,
    )
  return create(deps, request, projectAt(project), {
    locks: [experimentAt(project).stream],
    async make(work) {
      if (!(await createEmptyProject(deps, work, { project, caller }))) throw isTaken(name, project)
      if (name !== project) await keepName(work, name, project)
      return { experiment_id: project }
    },
  })
}

/** With MLflow's code for an existing experiment its clients would look for it by this name, and fail with an internal error. */
const isTaken = (name: string, project: string) =>
  name === project
    ? new Refusal('invalid', `Experiment(name=${name}) already exists.`, {
        fields: { error_code: 'RESOURCE_ALREADY_EXISTS' },
      })
    : new Refusal(
        'invalid',
        `The experiment '${name}' would be the project ${project}, which exists already; use mlflow.set_experiment('${project}'), or another name`,
      )

/** MLflow's clients find the project by this name, and people see it in the notes. */
async function keepName(work: Work, name: string, project: string): Promise<void> {
  await work.decide(experimentAt(project), {
    decide: experiment =>
      tagExperiment(experiment, project, { key: experimentNameTag, value: name }),
  })
  await work.decide(projectAt(project), {
    decide: (created): ProjectEvent[] =>
      created
        ? [
            {
              type: 'project.changed',
              data: {
                name: project,
                visibility: created.visibility,
                notes: `MLflow experiment: ${name}`,
              },
            },
          ]
        : [],
  })
}

type Tag = { experiment_id: string; key: string; value: string }

/** Running code may only change its run, so the tag is stored there. */
export async function setExperimentTag(
  deps: Deps,
  ports: MlflowPorts,
  request: MlflowRequest & { body: Tag },
): Promise<object> {
  const { caller, body } = request
  const { experiment_id: project, key, value } = body
  if (caller.kind === 'run') {
    const { run_id } = await admit(deps, ports, request, caller.runId)
    await commit(deps, request, mlflowAt(run_id), {
      decide: run => setTags(run, run_id, [{ key: `experiment.${key}`, value }]),
    })
    return {}
  }
  const { rows } = await deps.pool.query<{ known: ProjectFacts }>(
    `select ${projectFacts('$2')} as known from write.resource p where kind = 'project' and id = $1`,
    [project, caller.username],
  )
  const [found] = rows
  const verdict = found ? judge(rolesIn(found.known, caller), 'configure') : 'hidden'
  if (verdict === 'hidden') throw new Refusal('not_found', `No such project: ${project}`)
  if (verdict === 'forbidden')
    throw new Refusal(
      'forbidden',
      'Only the owner of the project, its maintainers and admins may do this',
    )
  await commit(deps, request, experimentAt(project), {
    decide: experiment => tagExperiment(experiment, project, { key, value }),
  })
  return {}
}
