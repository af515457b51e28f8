import { ApiFailure } from './failure.ts'

/** The faults of a refused body by field, as in `source.run_id`; empty for any other error. */
export function faultsIn(error: unknown): ReadonlyMap<string, string> {
  const detail = error instanceof ApiFailure ? error.body.detail : null
  if (!Array.isArray(detail)) return new Map()
  return new Map(
    detail.map((item: { loc?: unknown[]; msg?: unknown }) => [
      (item.loc ?? []).slice(1).join('.'),
      String(item.msg ?? ''),
    ]),
  )
}
