import type { Api } from '../api/client.ts'
import { segment } from '../api/client.ts'
import { isEnded, type RunRecord } from '../api/records.ts'
import { pause } from '../program/pause.ts'
import type { Session } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import type { Address } from './ingest.ts'

export type Outcome = {
  /** The line of `--json`. */
  end: { type: string; run_id: string; event: string; exit_code: number }
  /** Null: the run was never created. */
  address: Address | null
  lostLines: number
  /** Reports that could not be sent: in `folder`, unless `fault` kept them from the disk. */
  kept: number
  folder: string | null
  fault: string | null
}

type Ended = RunRecord & { counts: { points: number } }

/** The end is shown by reads a moment after it was reported. */
const looksWithinMs = 3000
const lookEveryMs = 100

/** Reports on stderr how the run ended, and whether all of its reports arrived; stdout belongs to the command. */
export async function lastWord(session: Session, outcome: Outcome): Promise<void> {
  const { end, address, lostLines, kept, folder, fault } = outcome
  const { terminal, api, isJson } = session
  const run = address && kept === 0 ? await endedRun(api, address.run_id) : null
  const url = address ? `${api.host}/runs/${address.run_id}` : null
  if (isJson) {
    const state = run?.state ?? null
    const points = run?.counts.points ?? null
    const why = run?.why ?? null
    const rest = {
      state,
      why,
      points,
      url,
      lost_lines: lostLines,
      kept_reports: kept,
      kept_in: folder,
    }
    terminal.note(toJson({ ...end, ...rest }))
    return
  }
  if (lostLines > 0) terminal.note(`forge: ${lostLines} lines of output were not stored`)
  if (fault) terminal.note(`forge: ${kept} reports are lost: ${fault}`)
  if (folder) terminal.note(`forge: ${kept} reports kept in ${folder}; send with forge sync`)
  terminal.note(`forge: ${summary(end, run).join(' · ')}${url === null ? '' : `  ${url}`}`)
}

function summary({ run_id, event, exit_code }: Outcome['end'], run: Ended | null): string[] {
  const points = run?.counts.points
  return [
    run?.short_id ?? run_id,
    run?.state ?? event,
    ...(points === undefined
      ? []
      : [`${points.toLocaleString('en')} ${points === 1 ? 'point' : 'points'}`]),
    endText(exit_code, run?.why ?? null),
  ]
}

/** Its code may have reported the failure before, without an exit code. */
function endText(code: number, why: string | null): string {
  const exit = `exit code ${code}`
  if (why === null || code === 0) return exit
  return why.startsWith(exit) ? why : `${exit} (${why})`
}

/** The run as it ended; null if that is not known in time. */
async function endedRun(api: Api, runId: string): Promise<Ended | null> {
  const deadline = performance.now() + looksWithinMs
  let last: Ended | null = null
  do {
    try {
      last = await api.get<Ended>(`/api/runs/${segment(runId)}`, {}, { withinMs: looksWithinMs })
      if (isEnded(last.state)) return last
    } catch {
      return last
    }
    await pause(lookEveryMs)
  } while (performance.now() < deadline)
  return last
}
