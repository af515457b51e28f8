import type { LogLine } from '../api/records.ts'
import { lastVersion } from '../terminal/width.ts'

/** The text of a line, preceded by its rank if the job has several nodes. */
export const marked = ({ rank, text }: Pick<LogLine, 'rank' | 'text'>): string =>
  rank === null ? text : `[${rank}] ${lastVersion(text)}`
