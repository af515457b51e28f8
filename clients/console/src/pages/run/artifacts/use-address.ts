import { useNavigate } from '@tanstack/react-router'
import type { RunRecord } from '../use-run.ts'

/** Changes what the address of this tab says. */
export function useAddress(run: RunRecord): (change: Record<string, string | undefined>) => void {
  const navigate = useNavigate()
  return change =>
    void navigate({
      to: '/runs/$run_id/$tab',
      params: { run_id: run.short_id, tab: 'artifacts' },
      search: old => ({ ...old, ...change }),
      replace: true,
      resetScroll: false,
    })
}
