import { get } from './api.ts'
import type { Line } from './log.ts'
import { element } from './page.ts'

type Ended = { run_id: string; state: string; message: string | null; why: string | null }

const shownLines = 10

/** Why a run ended without success, and what it said last: its message, or the end of its log. */
export async function showWhy(run: Ended): Promise<void> {
  element('why-section').hidden = run.why === null
  if (run.why === null) return
  element('why-title').textContent = `Why it ${run.state === 'failed' ? 'failed' : 'ended'}`
  element('why').textContent = run.why
  const words = await lastWords(run)
  element('last-words').hidden = words === ''
  element('last-words').textContent = words
}

async function lastWords({ run_id, state, message }: Ended): Promise<string> {
  const said = message?.trimEnd() ?? ''
  if (said.includes('\n')) return said
  if (state !== 'failed') return ''
  const last = `/api/runs/${run_id}/logs?before=${Number.MAX_SAFE_INTEGER}&limit=${shownLines}`
  const errors = await get<Line[]>(`${last}&stream=stderr`)
  const lines = errors.length > 0 ? errors : await get<Line[]>(last)
  return lines.map(line => line.text).join('\n')
}
