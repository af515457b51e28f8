import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import type { Panel } from '../../../../../schemas/workspace.ts'
import { panelsFrom, panelsText } from '../../panels/panel.ts'
import { columnsOf } from './columns.ts'
import { type Band, bands } from './group-choice.tsx'
import { type GroupValue, hiddenFrom, withoutArchived } from './groups.ts'
import { orderFrom } from './sort.ts'

/** How the runs of the charts are grouped, and which of them. */
export type Groups = {
  project: string
  group: string
  band: Band
  hidden: readonly GroupValue[]
  q?: string
  runs?: string
}

/** The settings of a workspace, all of them in the address, and a function that changes them. */
export function useChoice() {
  const search = useSearch({ strict: false })
  const { q = '', runs, sort, cols, group, band, off, panels: text } = search
  const navigate = useNavigate()
  const hidden = useMemo(() => hiddenFrom(off), [off])
  const panels = useMemo(() => panelsFrom(text), [text])
  const order = useMemo(() => orderFrom(sort), [sort])
  const columns = useMemo(() => columnsOf(cols, order), [cols, order])
  const go = (change: Record<string, string | undefined>) =>
    void navigate({ to: '.', search: old => ({ ...old, ...change }), resetScroll: false })
  return {
    ...{
      q,
      runs,
      order,
      columns,
      group,
      band: bands.find(one => one === band) ?? 'minmax',
      hidden,
      panels,
      go,
    },
    setPanels: (next: readonly Panel[]) => go({ panels: panelsText(next) }),
  }
}

export type Choice = ReturnType<typeof useChoice>

/** The groups of the runs that somebody chose; otherwise of all that match, which may be more than are listed. */
export function groupsOf(
  project: string,
  { group, band, hidden, q, runs }: Choice,
  shown: readonly RunRow[],
): Groups | null {
  if (group === undefined) return null
  const which =
    runs === undefined ? { q: withoutArchived(q) } : { runs: shown.map(run => run.run_id).join() }
  return { project, group, band, hidden, ...which }
}
