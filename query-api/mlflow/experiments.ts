import { sql } from 'kysely'
import { Refusal } from '../../platform/refusal.ts'
import {
  experimentNameTag,
  type MlflowExperiment,
  projectOfExperiment,
} from '../../schemas/mlflow.ts'
import { isProjectName } from '../../schemas/runs/runs.ts'
import { readableProjects } from '../rules/access.ts'
import { type MlflowCaller, type MlflowReads, ownRun } from './scope.ts'
import { pageOf } from './search.ts'

type Wanted = { name: string; limit: number; offset: number }

/** The projects visible to a caller; for running code, the project of its run. */
export async function projectsInScope(
  { reads, pool }: MlflowReads,
  caller: MlflowCaller,
  { name, limit, offset }: Partial<Wanted> = {},
): Promise<MlflowExperiment[]> {
  if (caller.kind === 'run') {
    const { project } = await ownRun(pool, caller)
    return offset ? [] : [toExperiment(project, 0, {})]
  }
  const db = reads.as(caller)
  const readable = await readableProjects(db, caller)
  const rows = await db
    .selectFrom('projects')
    .leftJoin('mlflow_experiments as e', 'e.project', 'projects.name')
    .select(['name', 'created_at', 'e.tags'])
    .$if(readable !== null, all => all.where(sql<boolean>`name = any(${readable})`))
    .$if(name !== undefined, all => all.where(isNamed(String(name))))
    .orderBy('created_at', 'desc')
    .orderBy('name')
    .limit(limit ?? 1)
    .offset(offset ?? 0)
    .execute()
  return rows.map(row => toExperiment(row.name, row.created_at.getTime(), row.tags ?? {}))
}

/** Finds a project by its own name, or by the name that MLflow's clients gave it, which must also map to the project. */
const isNamed = (name: string) =>
  isProjectName(name)
    ? sql<boolean>`name = ${name}`
    : sql<boolean>`name = ${projectOfExperiment(name)} and e.tags ->> ${experimentNameTag} = ${name}`

/**
 * The project of this name. Running code always gets its run's project: scripts set their own experiment first, and
 * MLflow then refuses to continue a run of a different one.
 */
export async function findExperiment(
  reads: MlflowReads,
  caller: MlflowCaller,
  name: string,
): Promise<MlflowExperiment> {
  const [found] = await projectsInScope(reads, caller, { name })
  if (!found) throw new Refusal('not_found', `No such project: ${name}`)
  return found
}

type List = { max_results?: number | string; page_token?: string; filter?: string }

/** Newest first. The only filter is the name, as `name = 'demo'`. */
export async function searchExperiments(
  reads: MlflowReads,
  caller: MlflowCaller,
  { filter, ...list }: List,
) {
  const page = pageOf(list, { largest: 1000, standard: 1000 })
  const [, name] = /^\s*(?:attributes?\.)?name\s*=\s*'([^']+)'\s*$/.exec(filter ?? '') ?? []
  if (filter && name === undefined)
    throw new Refusal(
      'invalid',
      `Invalid filter '${filter}'; projects are found by name = '<name>'`,
    )
  const rows = await projectsInScope(reads, caller, {
    ...(name !== undefined && { name }),
    ...{ limit: page.limit + 1, offset: page.offset },
  })
  return {
    experiments: rows.slice(0, page.limit),
    ...(rows.length > page.limit && { next_page_token: String(page.offset + page.limit) }),
  }
}

function toExperiment(
  project: string,
  createdMs: number,
  { [experimentNameTag]: given = project, ...tags }: Record<string, string>,
): MlflowExperiment {
  return {
    experiment_id: project,
    name: projectOfExperiment(given) === project ? given : project,
    artifact_location: 'mlflow-artifacts:/',
    lifecycle_stage: 'active',
    creation_time: createdMs,
    last_update_time: createdMs,
    tags: Object.entries(tags).map(([key, value]) => ({ key, value })),
  }
}
