import { type Route, route } from '../../auth/route.ts'
import { type Dataset, datasetAt } from '../../events/datasets.ts'
import { digestOf } from '../../platform/digest.ts'
import {
  type DatasetPatch,
  type DatasetVersionInput,
  datasetDeprecated,
  datasetDeprecation,
  datasetPath,
  datasetVersionCreated,
  datasetVersionInput,
  datasetVersionPath,
} from '../../schemas/datasets/datasets.ts'
import { datasetReference } from '../../schemas/datasets/reference.ts'
import { Invalid } from '../../schemas/validate.ts'
import { create, type Work } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { refuseUnlessWriter } from '../rules/dataset-access.ts'
import { resolveDataset } from '../rules/dataset-reference.ts'
import { deprecate } from '../rules/deprecate-version.ts'
import { holdResource } from '../rules/hold-resource.ts'
import { deprecateVersion } from '../rules/versions.ts'
import { pushVersion } from './decide.ts'
import { refuseOthers } from './others.ts'
import { saveDataset } from './rows.ts'
import { fault, refuseClashes, uploadedFiles } from './uploaded.ts'

export type Asking = { username: string; role: 'admin' | 'operator' }

export const versionRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/datasets/{owner}/{name}/versions',
    credential: 'person',
    reach: 'taken',
    tag: 'datasets',
    summary: 'Make uploaded files the next version of a dataset, which is then validated',
    params: datasetPath,
    body: datasetVersionInput,
    bodyLimitBytes: 512 * 1024,
    response: datasetVersionCreated,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      refuseClashes(body)
      const target = datasetAt(params)
      return create(deps, request, target, {
        async make(work) {
          await refuseOthers(work.tx, params, caller)
          await holdParents(work, body, caller)
          const { tx, now } = work
          const found = await uploadedFiles(tx, body, { owner: caller.username, now })
          const { version, kind = null, parents = [] } = body
          const settings = settingsIn(body)
          const digest = digestOf(found.files.map(({ name, sha256 }) => [name, sha256]))
          const source = { kind: 'upload' as const }
          const pushed = { ...params, version, digest, kind, ...found, parents, source, settings }
          const { events, state } = await work.decide(target, {
            decide: dataset => pushVersion(dataset, pushed),
            alongside: saveDataset,
          })
          const created = events.some(({ type }) => type === 'dataset.version_created')
          return { ...toReply(state), created }
        },
      })
    },
  }),
  route({
    method: 'POST',
    path: '/api/datasets/{owner}/{name}/versions/{version}/deprecate',
    credential: 'person',
    reach: 'its_people',
    tag: 'datasets',
    summary:
      'Mark a version as one that should not be used any more; jobs that name it get a warning',
    params: datasetVersionPath,
    body: datasetDeprecation,
    response: datasetDeprecated,
    refusals: ['forbidden', 'not_found', 'conflict'],
    async handle(request) {
      const { caller, params, body } = request
      await refuseUnlessWriter(deps.pool, params, caller)
      return deprecate(deps, request, {
        ...{ target: datasetAt(params), ref: datasetReference(params), save: saveDataset },
        decide: dataset => deprecateVersion('dataset', dataset, { ...params, ...body }),
      })
    },
  }),
]

/** The named parents have to be usable by the caller; each stays until the commit. */
export async function holdParents(
  { tx }: Work,
  { parents = [] }: Pick<DatasetVersionInput, 'parents'>,
  caller: Asking,
): Promise<void> {
  for (const [index, ref] of parents.entries()) {
    const found = await resolveDataset(tx, ref, caller)
    const isThere =
      found.is === 'found' && (await holdResource(tx, { kind: 'dataset', id: found.ref }))
    if (!isThere)
      throw new Invalid([
        fault(
          ['body', 'parents', index],
          ref,
          `Value error, no such version that you may use: ${ref}`,
        ),
      ])
  }
}

/** The settings that the body names. */
const settingsIn = ({ visibility, use, license, card }: DatasetVersionInput): DatasetPatch => ({
  ...(visibility !== undefined && { visibility }),
  ...(use !== undefined && { use }),
  ...(license !== undefined && { license }),
  ...(card !== undefined && { card }),
})

export function toReply(dataset: Dataset) {
  const newest = dataset?.versions.at(-1)
  if (!dataset || !newest) throw new Error('a dataset that was just pushed has no version')
  const { owner, name } = dataset
  const { version, digest, state } = newest
  const ref = datasetReference({ owner, name, version })
  return { ref, dataset: `${owner}/${name}`, owner, version, digest, state }
}
