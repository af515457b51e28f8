import type { Kysely } from 'kysely'
import type { LogTables } from '../../projector/logs/table.ts'
import { eofFrame, frame } from '../sse.ts'
import type { Feed } from '../sse-channel.ts'
import { type Chunk, linesOf, readChunks, readLogState } from './read.ts'

/** Stored rows sent at once; each holds at most about 128 KiB of text. */
const rowsAtOnce = 2

/** The log of a run, a frame a line, its number being the cursor. */
export const logFeed = (db: Kysely<LogTables>, runId: string): Feed => ({
  key: `logs:${runId}`,
  wakes: { projections: ['logs'], key: runId },
  async read(after) {
    // The state first: lines written in between are then more than it promises, never fewer.
    const state = await readLogState(db, runId)
    const from = Math.min(after, state.last)
    const chunks =
      from < state.last ? await readChunks(db, runId, { after: from, rows: rowsAtOnce }) : []
    const last = chunks.at(-1)?.last ?? from
    const more = last < state.last
    return {
      frames: chunks.length === 0 ? null : formatLines(chunks, from),
      last,
      more,
      end: state.eof === null || more ? null : eofFrame(last, { run_id: runId, state: state.eof }),
    }
  },
})

function formatLines(chunks: readonly Chunk[], after: number): Buffer {
  let text = ''
  for (const chunk of chunks)
    for (const line of linesOf(chunk, after)) text += frame('log', line.seq, line)
  return Buffer.from(text)
}
