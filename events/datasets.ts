import { type Static, Type } from 'typebox'
import {
  type DatasetState,
  datasetSettings,
  datasetVersionFacts,
} from '../schemas/datasets/datasets.ts'
import { datasetReport } from '../schemas/datasets/report.ts'
import { oneOf } from '../schemas/shared.ts'
import { aggregate, type EventOf, event } from './event.ts'
import { named, versionDeleted, versionDeprecated } from './versions.ts'

const version = Type.Integer({ minimum: 1 })

/** A dataset was created, with its first version. */
export const datasetCreated = event(
  'dataset.created',
  Type.Object({ ...named, ...datasetSettings }),
  ({ owner, name, visibility }, who) => `${who} created the ${visibility} dataset ${owner}/${name}`,
)

/** The settings of a dataset, as a whole. */
export const datasetChanged = event(
  'dataset.changed',
  Type.Object({ ...named, ...datasetSettings }),
  ({ owner, name, visibility }, who) =>
    `${who} changed the settings of the ${visibility} dataset ${owner}/${name}`,
)

/** What a person may do with a dataset from now on, besides what everybody may; both false: nothing. */
export const datasetGranted = event(
  'dataset.granted',
  Type.Object({ ...named, username: Type.String(), see: Type.Boolean(), use: Type.Boolean() }),
  ({ owner, name, username, see, use }, who) =>
    see || use
      ? `${who} granted ${username} to ${use ? 'use' : 'see'} the dataset ${owner}/${name}`
      : `${who} withdrew the grants of ${username} on the dataset ${owner}/${name}`,
)

/** Uploaded files became the next version of a dataset; it still has to be validated. */
export const datasetVersionCreated = event(
  'dataset.version_created',
  Type.Object(datasetVersionFacts),
  ({ owner, name, version, files }, who) =>
    `${who} made ${files.length} ${files.length === 1 ? 'file' : 'files'} version ${version} of the dataset ${owner}/${name}`,
)

/** The validation of a version ended. `created_by`: who made the version. */
export const datasetValidated = event(
  'dataset.validated',
  Type.Object({
    ...named,
    version,
    created_by: Type.String(),
    state: oneOf('ready', 'invalid'),
    report: datasetReport,
  }),
  ({ owner, name, version, state, report }, who) =>
    `${who} found version ${version} of the dataset ${owner}/${name} ${state}: ${report.rows} rows, ${report.error_count} errors`,
)

export const datasetDeprecated = versionDeprecated('dataset.deprecated', 'dataset', version)
export const datasetVersionDeleted = versionDeleted('dataset.version_deleted', 'dataset', version)

const events = [
  datasetCreated,
  datasetChanged,
  datasetGranted,
  datasetVersionCreated,
  datasetValidated,
  datasetDeprecated,
  datasetVersionDeleted,
] as const
export type DatasetEvent = EventOf<(typeof events)[number]>

export type DatasetVersion = Pick<
  Static<typeof datasetVersionCreated.data>,
  'version' | 'digest' | 'kind'
> & {
  /** The digest of the tokenizer's file. */
  tokenizer: string | null
  state: DatasetState
  deprecated_reason: string | null
  is_deleted: boolean
}
/** Null before it is created. */
export type Dataset =
  | (Static<typeof datasetCreated.data> & {
      versions: DatasetVersion[]
      grants: { username: string; see: boolean; use: boolean }[]
    })
  | null

function evolve(dataset: Dataset, event: DatasetEvent): Dataset {
  if (event.type === 'dataset.created') return { ...event.data, versions: [], grants: [] }
  return dataset && evolveExisting(dataset, event)
}

type Existing = NonNullable<Dataset>

function evolveExisting(
  dataset: Existing,
  event: Exclude<DatasetEvent, { type: 'dataset.created' }>,
): Existing {
  switch (event.type) {
    case 'dataset.changed':
      return { ...dataset, ...event.data }
    case 'dataset.granted': {
      const { username, see, use } = event.data
      const others = dataset.grants.filter(one => one.username !== username)
      return { ...dataset, grants: see || use ? [...others, { username, see, use }] : others }
    }
    case 'dataset.version_created': {
      const { version, digest, kind, tokenizer } = event.data
      const made = {
        ...{ version, digest, kind, tokenizer: tokenizer?.sha256 ?? null },
        ...{ state: 'validating' as const, deprecated_reason: null, is_deleted: false },
      }
      return { ...dataset, versions: [...dataset.versions, made] }
    }
    case 'dataset.validated':
      return withVersion(dataset, event.data.version, { state: event.data.state })
    case 'dataset.deprecated':
      return withVersion(dataset, event.data.version, {
        state: 'deprecated',
        deprecated_reason: event.data.reason,
      })
    case 'dataset.version_deleted':
      return withVersion(dataset, event.data.version, { is_deleted: true })
  }
}

const withVersion = (
  dataset: Existing,
  version: number,
  change: Partial<DatasetVersion>,
): Existing => ({
  ...dataset,
  versions: dataset.versions.map(one => (one.version === version ? { ...one, ...change } : one)),
})

export const datasets = aggregate('dataset', {
  events,
  initial: null,
  evolve,
  snapshot: { shape: 1 },
})
export const datasetAt = ({ owner, name }: { owner: string; name: string }) =>
  datasets.at(`${owner}/${name}`)
