import type { LogLine } from '../api/records.ts'
import { lastVersion } from '../terminal/width.ts'

/** The text of a line; of a job of several nodes behind the rank that printed it. */
export const marked = ({ rank, text }: Pick<LogLine, 'rank' | 'text'>): string =>
  rank === null ? text : `[${rank}] ${lastVersion(text)}`
