import { type Api, segment } from '../api/client.ts'
import type { LogLine, RunRecord } from '../api/records.ts'

const shownLines = 10

/** The last output of a failed run: its message, if it has several lines, or the end of its log. */
export async function lastWordsOf(
  api: Api,
  { run_id, state, message }: RunRecord,
): Promise<string[]> {
  const said = (message ?? '').trimEnd().split('\n')
  if (said.length > 1) return said
  if (state !== 'failed') return []
  const last = (stream?: string) =>
    api.get<LogLine[]>(`/api/runs/${segment(run_id)}/logs`, {
      before: Number.MAX_SAFE_INTEGER,
      limit: shownLines,
      stream,
    })
  const errors = await last('stderr')
  return (errors.length > 0 ? errors : await last()).map(line => line.text)
}
