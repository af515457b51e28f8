import stringWidth from 'string-width'
import { padEnd, padStart, truncate } from './width.ts'

export type Bar = { label: string; count: number }

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** Horizontal bars, a line each, the longest as long as fits; a count above 0 always shows. */
export function bars(rows: readonly Bar[], width: number): string[] {
  const labels = Math.max(0, ...rows.map(({ label }) => stringWidth(label)))
  const counts = Math.max(0, ...rows.map(({ count }) => String(count).length))
  const room = Math.max(8, width - labels - counts - 4)
  const highest = Math.max(1, ...rows.map(({ count }) => count))
  return rows.map(({ label, count }) => {
    const length = count === 0 ? 0 : Math.max(1, Math.round((count / highest) * room * 8))
    const bar = '█'.repeat(length >> 3) + (eighths[length & 7] ?? '')
    const head = `${padStart(label, labels)}  ${padStart(String(count), counts)}`
    return truncate(padEnd(`${head}  ${bar}`, 0), width).trimEnd()
  })
}
