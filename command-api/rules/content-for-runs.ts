import type { Context } from 'koa'
import type { RunCaller } from '../../auth/caller.ts'
import type { Range } from '../../platform/http/range.ts'
import { sendFile } from '../../platform/http/send-file.ts'
import type { ObjectStore } from '../../platform/objects/port.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Deps } from '../deps.ts'

/** What routes for the content of a run's data have in common. The token of the run gives access to that data alone. */
export const ofContentForRuns = {
  method: 'GET',
  credential: 'ingest',
  tag: 'ingest',
  response: {
    mediaType: 'application/octet-stream',
    description:
      'the bytes, or with `Range: bytes=<first>-<last>` some of them (206); `ETag` is the digest',
  },
  refusals: [
    ...(['forbidden', 'conflict', 'gone'] as const),
    ...(['range_not_satisfiable', 'backend_failed'] as const),
  ],
} as const

type Sending = {
  caller: RunCaller
  ctx: Context
  /** As the run asked for it. */
  asked: { run_id: string; file: string }
  /** Names the file's dataset or model. */
  ref: string
  /** The SHA-256 of the file, or a refusal. */
  find: () => Promise<string>
  /** Where the file is; by default the store of artifacts. */
  store?: ObjectStore
}

/** Sends a file of a store to the preparation of a run. */
export async function sendContentToRun(
  { reports, artifacts }: Pick<Deps, 'reports' | 'artifacts'>,
  { caller, ctx, asked, ref, find, store = artifacts }: Sending,
): Promise<void> {
  await reports.admit({ caller, body: asked, ctx })
  const sha256 = await find()
  const { file } = asked
  const size = await store.sizeOf(sha256)
  const read = (range: Range | null) => store.read(sha256, range)
  const filename = file.split('/').at(-1) ?? file
  const sent = { size: size ?? 0, read, filename, etag: `"${sha256}"` }
  if (size === null || !(await sendFile(ctx, sent)))
    throw new Refusal('backend_failed', `Forge's store has lost the file ${file} of ${ref}`, {
      code: 'artifact.lost',
      hint: 'With several hosts, check that they share one store',
    })
}
