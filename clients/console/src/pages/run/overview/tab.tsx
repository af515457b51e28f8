import type { RunRecord } from '../use-run.ts'

export function Tab({ run }: { run: RunRecord }) {
  return <p>{run.run_id}</p>
}
