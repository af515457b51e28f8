import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { queries, reading } from '../../session/api.ts'
import { endOfLog } from './overview/end-of-log.ts'
import { pathOfDiagnoses } from './use-diagnosis.ts'
import { pathOfRun } from './use-run.ts'

/** Begins to read what the page of a run shows first, while somebody points at its link. */
export function readRunAhead({
  run_id,
  short_id,
  state,
}: Pick<RunRow, 'run_id' | 'short_id' | 'state'>): void {
  void queries.prefetchQuery(reading(pathOfRun(short_id)))
  if (state !== 'failed') return
  void queries.prefetchQuery(reading(pathOfDiagnoses(run_id)))
  void queries.prefetchQuery(endOfLog(run_id, 'stderr'))
}
