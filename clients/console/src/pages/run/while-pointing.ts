import type { RunRow } from '../../../../../schemas/runs/records.ts'

/** Begins to read what the page of a run shows first, while somebody points at its link. */
export function readWhilePointing(run: RunRow): void {
  import('./ahead.ts').then(
    ({ readRunAhead }) => readRunAhead(run),
    // Opening the page reports it.
    () => {},
  )
}
