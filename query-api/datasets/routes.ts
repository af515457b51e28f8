import { type SqlBool, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import { type Route, route } from '../../auth/route.ts'
import { splitOf } from '../../datasets/splits.ts'
import type { Range } from '../../platform/http/range.ts'
import { sendFile } from '../../platform/http/send-file.ts'
import { Refusal } from '../../platform/refusal.ts'
import {
  dataset,
  datasetDetail,
  datasetFilePath,
  datasetListQuery,
  datasetRows,
  datasetRowsQuery,
  datasetUse,
  datasetVersion,
  datasetVersionDetail,
  datasetVersionPath,
  pageOfDataset,
} from '../../schemas/datasets/datasets.ts'
import { list, one, pagedList } from '../reading/list.ts'
import { countRows } from '../reading/page.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { maySee } from '../rules/dataset-access.ts'
import { findDataset, findVersion, ofDataset, refuseUnlessUser, type Tables } from './find.ts'
import { readUses, toVersions } from './record.ts'
import { pageOfRows, type Store } from './rows.ts'
import { toDataset, toDatasets, versionsOf } from './shown.ts'

/** The volume of which a version is a snapshot. */
export type FindVolume = (
  caller: Person,
  ref: string,
) => Promise<{ volume_id: string; name: string; path: string } | null>

type Needed = { reads: Reads<Tables>; store: Store; volumeOfVersion: FindVolume }

export const datasetRoutes = ({ reads, store, volumeOfVersion }: Needed): Route[] => [
  list({
    ...asCaller(reads),
    path: '/api/datasets',
    tag: 'datasets',
    summary: 'List the datasets one may see, by owner and name',
    query: datasetListQuery,
    row: dataset,
    matching: ({ db }, { caller, query: { owner, q, state } }) =>
      db
        .selectFrom('datasets as d')
        .where(maySee(caller))
        .$if(owner !== undefined, found => found.where('d.owner', '=', owner ?? ''))
        .$if(q !== undefined, found =>
          found.where(sql<SqlBool>`lower(d.owner || '/' || d.name) like ${containing(q ?? '')}`),
        )
        .$if(state !== undefined, found =>
          found.where(
            eb =>
              eb
                .selectFrom('dataset_versions as v')
                .select('v.state')
                .whereRef('v.owner', '=', 'd.owner')
                .whereRef('v.name', '=', 'd.name')
                .orderBy('v.version', 'desc')
                .limit(1),
            '=',
            state ?? 'ready',
          ),
        ),
    select: found => found.selectAll('d').orderBy('d.owner').orderBy('d.name'),
    shape: (rows, { db }, { caller }) => toDatasets({ db, caller }, rows),
  }),
  one({
    ...ofDataset(reads),
    path: '/api/datasets/{owner}/{name}',
    tag: 'datasets',
    summary: 'Read a dataset: its card, its newest version, and the grants for who may write it',
    response: datasetDetail,
    read: found => toDataset(found),
  }),
  ...versionRoutes(reads, volumeOfVersion),
  ...contentRoutes({ reads, store }),
  fileRoute({ reads, store }),
]

const versionRoutes = (reads: Reads<Tables>, volumeOfVersion: FindVolume): Route[] => [
  pagedList({
    ...ofDataset(reads),
    path: '/api/datasets/{owner}/{name}/versions',
    tag: 'datasets',
    summary: 'The versions of a dataset, newest first',
    query: pageOfDataset,
    row: datasetVersion,
    async read({ db, row, caller }, _, { limit, offset }) {
      const all = versionsOf(db, row)
      const rows = await all.orderBy('version', 'desc').limit(limit).offset(offset).execute()
      const { visibility, license } = row
      return {
        rows: await toVersions(
          { db, caller },
          rows.map(version => ({ ...version, visibility, license })),
        ),
        counted: await countRows(db, all),
      }
    },
  }),
  one({
    ...ofDataset(reads),
    path: '/api/datasets/{owner}/{name}/versions/{version}',
    tag: 'datasets',
    summary: 'Read a version: what its validation found, with the first 1,000 errors by line',
    params: datasetVersionPath,
    response: datasetVersionDetail,
    async read(found, { params }) {
      const { report, files, ...version } = await findVersion(found, params)
      const { visibility, license } = found.row
      const [shown] = await toVersions(found, [{ ...version, visibility, license }])
      return (
        shown && {
          ...shown,
          lengths: report?.lengths ?? null,
          duplicates: report?.duplicates ?? null,
          overlap: report?.overlap ?? [],
          estimated: report?.estimated ?? false,
          volume:
            shown.source.kind === 'volume' ? await volumeOfVersion(found.caller, shown.ref) : null,
          errors: report?.errors ?? [],
          files: files.map(file => ({
            ...file,
            split: splitOf(file.name),
            rows: report?.files.find(({ name }) => name === file.name)?.rows ?? null,
          })),
        }
      )
    },
  }),
]

const contentRoutes = ({ reads, store }: Omit<Needed, 'volumeOfVersion'>): Route[] => [
  one({
    ...ofDataset(reads),
    path: '/api/datasets/{owner}/{name}/versions/{version}/rows',
    tag: 'datasets',
    summary: 'Rows of a split, by page, or those that contain a text',
    params: datasetVersionPath,
    query: datasetRowsQuery,
    response: datasetRows,
    refusals: ['forbidden', 'not_found', 'conflict', 'backend_failed'],
    async read(found, { params, query }) {
      refuseUnlessUser(found)
      return pageOfRows(store, await findVersion(found, params), query)
    },
  }),
  pagedList({
    ...ofDataset(reads),
    path: '/api/datasets/{owner}/{name}/versions/{version}/used-by',
    tag: 'datasets',
    summary: 'Runs that used a version, and versions that were made from it',
    params: datasetVersionPath,
    query: pageOfDataset,
    row: datasetUse,
    async read(found, { params, caller }, page) {
      const { ref } = await findVersion(found, params)
      return readUses(found.db, caller, { ref, ...page })
    },
  }),
]

/** For `like`, in lower case; the wildcards of the text stand for themselves. */
const containing = (text: string) => `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`

const fileRoute = ({ reads, store }: Omit<Needed, 'volumeOfVersion'>): Route =>
  route({
    method: 'GET',
    path: '/api/datasets/{owner}/{name}/versions/{version}/files/{+path}',
    credential: 'person',
    reach: 'its_people',
    tag: 'datasets',
    summary: 'The bytes of a file of a version',
    params: datasetFilePath,
    response: {
      mediaType: 'application/octet-stream',
      description:
        'the bytes, or with `Range: bytes=<first>-<last>` some of them (206); `ETag` is the digest',
    },
    refusals: ['forbidden', 'not_found', 'range_not_satisfiable', 'backend_failed'],
    async handle({ caller, params, ctx }) {
      const found = await findDataset(reads, caller, params)
      refuseUnlessUser(found)
      const { files, ref } = await findVersion(found, params)
      const file = files.find(({ name }) => name === params.path)
      if (!file) throw new Refusal('not_found', `${ref} has no file ${params.path}`)
      const { sha256 } = file
      const size = await store.sizeOf(sha256)
      const read = (range: Range | null) => store.read(sha256, range)
      const filename = file.name.split('/').at(-1) ?? file.name
      if (size === null || !(await sendFile(ctx, { size, read, filename, etag: `"${sha256}"` })))
        throw new Refusal(
          'backend_failed',
          `Forge's store has lost the file ${file.name} of ${ref}`,
          {
            code: 'artifact.lost',
            hint: 'With several hosts, check that they share one store',
          },
        )
    },
  })
