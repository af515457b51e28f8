import path from 'node:path'
import { type Route, route } from '../../auth/route.ts'
import { listInside, NotInside, openFileInside } from '../../platform/files/inside.ts'
import { sendFile } from '../../platform/http/send-file.ts'
import { Refusal } from '../../platform/refusal.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import {
  type VolumeBackend,
  volumeContentQuery,
  volumeFiles,
  volumeFilesQuery,
  volumePath,
} from '../../schemas/volumes.ts'
import { one } from '../reading/list.ts'
import { asCaller, type Reads } from '../reading/reads.ts'
import { findVolume, type Tables } from './routes.ts'

/** The folders with the volumes of each backend, as this process sees them. */
export type Folders = Partial<Record<VolumeBackend, string | null>>

type Browsing = { reads: Reads<Tables>; folders: Folders }

export const fileRoutes = ({ reads, folders }: Browsing): Route[] => [
  one({
    ...asCaller(reads),
    path: '/api/volumes/{volume_id}/files',
    reach: 'its_people',
    tag: 'volumes',
    summary: 'List a folder of a volume by name, page by page; links are shown, but not followed',
    params: volumePath,
    query: volumeFilesQuery,
    refusals: ['not_found', 'backend_failed'],
    response: volumeFiles,
    async read({ db }, { caller, params: { volume_id }, query }) {
      const folder = folderOf(folders, await findVolume(db, volume_id, caller))
      const { path: asked = '', after = '', limit = 100 } = query
      const inside = insideOf(asked)
      const page = await listInside(folder, inside, { after, limit }).catch(error => {
        // Its folder is made when the first job uses it.
        if (error instanceof NotInside && inside === '') return { entries: [], next: null }
        throw notThere(error, asked)
      })
      return {
        path: inside,
        next: page.next,
        entries: page.entries.map(({ modified_at, ...entry }) => ({
          ...entry,
          modified_at: toTimestamp(modified_at),
        })),
      }
    },
  }),
  route({
    method: 'GET',
    path: '/api/volumes/{volume_id}/content',
    credential: 'person',
    reach: 'its_people',
    tag: 'volumes',
    summary: 'The bytes of a file of a volume',
    params: volumePath,
    query: volumeContentQuery,
    response: {
      mediaType: 'application/octet-stream',
      description: 'the bytes, or with `Range: bytes=<first>-<last>` some of them (206)',
    },
    refusals: ['not_found', 'range_not_satisfiable', 'backend_failed'],
    async handle({ caller, params, query, ctx }) {
      const row = await findVolume(reads.as(caller), params.volume_id, caller)
      const folder = folderOf(folders, row)
      const { handle, stats } = await openFileInside(folder, insideOf(query.path)).catch(error => {
        throw notThere(error, query.path)
      })
      const isSent = await sendFile(ctx, {
        size: stats.size,
        // It may grow meanwhile.
        read: async range =>
          handle.createReadStream({ start: range?.first ?? 0, end: range?.last ?? stats.size - 1 }),
        filename: path.basename(query.path),
        etag: `"${stats.ino}-${stats.size}-${stats.mtimeMs}"`,
      }).finally(() => {
        if (!ctx.body) void handle.close()
      })
      if (!isSent) throw notThere(new NotInside(), query.path)
    },
  }),
]

function folderOf(
  folders: Folders,
  { backend, directory }: { backend: VolumeBackend; directory: string },
): string {
  const all = folders[backend] ?? null
  if (all === null)
    throw new Refusal('backend_failed', `The volumes of ${backend} are not on this server`, {
      code: 'volume.backend',
    })
  return path.join(all, directory)
}

/** Without `.` and empty parts; what leads out is not there. */
function insideOf(asked: string): string {
  const parts = asked.split('/').filter(part => part !== '' && part !== '.')
  if (parts.includes('..')) throw notThere(new NotInside(), asked)
  return parts.join('/')
}

function notThere(error: unknown, asked: string): unknown {
  return error instanceof NotInside
    ? new Refusal('not_found', `No such file or folder in the volume: ${asked}`, {
        code: 'volume.no_such_file',
      })
    : error
}
