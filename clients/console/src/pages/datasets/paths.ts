import type { Static } from 'typebox'
import type {
  dataset,
  datasetDetail,
  datasetRows,
  datasetUse,
  datasetVersionCreated,
  datasetVersionDetail,
} from '../../../../../schemas/datasets/datasets.ts'
import { type Named, ownedPath } from '../../session/owned-path.ts'

export type { DatasetVersion as Version } from '../../../../../schemas/datasets/datasets.ts'
export type Dataset = Static<typeof dataset>
export type Detail = Static<typeof datasetDetail>
export type VersionDetail = Static<typeof datasetVersionDetail>
export type Rows = Static<typeof datasetRows>
export type Use = Static<typeof datasetUse>
export type Created = Static<typeof datasetVersionCreated>

export type { Named }

export const pathOf = (of: Named): string => ownedPath('datasets', of)

export const pathOfVersion = (of: Named, version: number): string =>
  `${pathOf(of)}/versions/${version}`

/** `name` is a relative path. */
export const pathOfFile = (version: string, name: string): string =>
  `${version}/files/${name.split('/').map(encodeURIComponent).join('/')}`
