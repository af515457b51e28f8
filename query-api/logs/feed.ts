import type { Kysely } from 'kysely'
import type { LogTables } from '../../projector/logs/table.ts'
import type { Feed } from '../sse/feed.ts'
import { eofFrame, frame } from '../sse/sse.ts'
import { type Chunk, linesOf, readChunks, readLogState } from './read.ts'

/** Stored rows per read; each holds at most about 128 KiB of text. */
const rowsAtOnce = 2

/** The log of a run: one frame per line, with the line number as cursor. */
export const logFeed = (db: Kysely<LogTables>, runId: string): Feed => ({
  key: `logs:${runId}`,
  wakes: { projections: ['logs'], key: runId },
  async read(after) {
    // The state is read first, so that all lines it counts are there when the lines are read.
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
