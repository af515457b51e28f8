import type { LogLine } from '../../../../../../schemas/logs.ts'
import { reading } from '../../../session/api.ts'
import { pathOfRun } from '../use-run.ts'

const shownLines = 10

/** The last lines of a run's log, of one stream or of all. */
export const endOfLog = (runId: string, stream?: 'stderr') =>
  reading<LogLine[]>(`${pathOfRun(runId)}/logs`, {
    before: Number.MAX_SAFE_INTEGER,
    limit: shownLines,
    ...(stream && { stream }),
  })
