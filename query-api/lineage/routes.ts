import type { Static, TObject } from 'typebox'
import type { Route } from '../../auth/route.ts'
import { artifactInPath } from '../../schemas/artifacts/artifacts.ts'
import { datasetVersionPath } from '../../schemas/datasets/datasets.ts'
import { deploymentPath } from '../../schemas/deployments/deployments.ts'
import { hubImportPath } from '../../schemas/hub-imports.ts'
import { hubReference } from '../../schemas/hub-reference.ts'
import { lineageGraph } from '../../schemas/lineage.ts'
import { versionPath } from '../../schemas/models.ts'
import { environmentReference } from '../../schemas/rl-environments/reference.ts'
import { rlEnvironmentVersionPath } from '../../schemas/rl-environments/rl-environments.ts'
import { runIdInPath } from '../../schemas/shared.ts'
import { one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { findRun } from '../rules/access.ts'
import type { Tables } from './things.ts'
import { type Named, walk } from './walk.ts'

/** The origins and results of one thing (docs/use/lineage.md). */
export const lineageRoutes = (reads: Reads<Tables>): Route[] => [
  one({
    ...asCaller(reads),
    reach: 'its_people',
    path: '/api/lineage/runs/{run_id}',
    tag: 'lineage',
    summary: 'The origins and results of a run: data, models and deployments',
    params: runIdInPath,
    response: lineageGraph,
    async read({ db }, { caller, params }) {
      const { run_id } = await findRun(reads, caller, params.run_id)
      return walk(db, caller, { type: 'run', ref: run_id })
    },
  }),
  of(reads, {
    path: '/api/lineage/artifacts/{artifact_id}',
    summary: 'The origins and results of an artifact',
    params: artifactInPath,
    named: ({ artifact_id }) => ({ type: 'artifact', ref: artifact_id }),
  }),
  of(reads, {
    path: '/api/lineage/datasets/{owner}/{name}/versions/{version}',
    summary: 'The origins and results of a version of a dataset',
    params: datasetVersionPath,
    named: ({ owner, name, version }) => ({ type: 'dataset', ref: `${owner}/${name}@${version}` }),
  }),
  of(reads, {
    path: '/api/lineage/environments/{owner}/{name}/{version}',
    summary: 'The runs that used a version of an RL environment, and what came from them',
    params: rlEnvironmentVersionPath,
    named: named => ({ type: 'environment', ref: environmentReference(named) }),
  }),
  of(reads, {
    path: '/api/lineage/models/{model}/versions/{version}',
    summary: 'The origins and results of a version of a model',
    params: versionPath,
    named: ({ model, version }) => ({ type: 'model', ref: `${model}@${version}` }),
  }),
  one({
    ...asCaller(reads),
    reach: 'its_people',
    path: '/api/lineage/hub-imports/{import_id}',
    tag: 'lineage',
    summary:
      'The results of an imported model of the hub, also of runs of others that you may read',
    params: hubImportPath,
    response: lineageGraph,
    async read({ db }, { caller, params: { import_id } }) {
      const found = await db
        .selectFrom('hub_imports')
        .select(['repo', 'commit'])
        .where('import_id', '=', import_id)
        .$if(caller.role !== 'admin', own => own.where('owner', '=', caller.username))
        .executeTakeFirst()
      return found && walk(db, caller, { type: 'hub', ref: hubReference(found) })
    },
  }),
  of(reads, {
    path: '/api/lineage/deployments/{deployment_id}',
    summary: 'The origins of the artifacts that a deployment served',
    params: deploymentPath,
    named: ({ deployment_id }) => ({ type: 'deployment', ref: deployment_id }),
  }),
]

type Of<P extends TObject> = {
  path: string
  summary: string
  params: P
  named: (params: Static<P>) => Named
}

const of = <P extends TObject>(reads: Reads<Tables>, { named, ...common }: Of<P>): Route =>
  one({
    ...asCaller(reads),
    ...common,
    reach: 'its_people',
    tag: 'lineage',
    response: lineageGraph,
    read: ({ db }, { caller, params }) => walk(db, caller, named(params as Static<P>)),
  })
