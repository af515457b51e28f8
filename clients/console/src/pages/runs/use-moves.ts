import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { type Chosen, rangeOf, toggled, withAll } from './choice.ts'
import { idOf, lineOf, type Mark, moved, settled } from './cursor.ts'
import type { TableKey } from './table-keys.ts'
import type { Runs } from './use-runs.ts'
import { useTableKeys } from './use-table-keys.ts'

type Moves = {
  runs: Runs
  /** Differs for each search, order and grouping. */
  list: string
  chosen: Chosen
  onChoose: (chosen: Chosen) => void
  onToggleGroup: (project: string) => void
  onStar: (run: RunRow) => void
  scrollTo: (line: number) => void
  box: { readonly current: HTMLElement | null }
}

/** The line that the keys act on, and where a range began; null: none. */
type Marks = { list: string; at: Mark; began: Mark | null }

const fresh = (list: string): Marks => ({ list, at: { id: null, line: 0 }, began: null })

/** The target of the keys: the marked run, wherever it now is in the list, and never another in its place. */
export function useMoves(moves: Moves) {
  const { runs, list, chosen, onChoose, onToggleGroup, onStar, scrollTo, box } = moves
  const navigate = useNavigate()
  const [kept, setKept] = useState(() => fresh(list))
  const marks = kept.list === list ? kept : fresh(list)
  const idAt = (line: number) => idOf(runs.at(line))
  const standing = (mark: Mark) => {
    const line = lineOf(mark, idAt)
    return line === null ? null : runs.at(line)
  }
  const runOf = (mark: Mark) => {
    const line = standing(mark)
    return line?.kind === 'run' ? line.run : undefined
  }
  // Rows drawn while another search is loading do not belong to that search.
  const isOfList = runs.isKnown && !runs.isReading
  useEffect(() => {
    const at = isOfList ? settled(marks.at, idAt) : marks.at
    if (at !== marks.at || marks !== kept) setKept({ ...marks, at })
  })
  const choose = (mark: Mark, isRange: boolean) => {
    const run = runOf(mark)
    if (!run) return
    const here = settled({ ...mark, id: run.run_id }, idAt)
    setKept({ list, at: here, began: here })
    const from = isRange && marks.began !== null ? lineOf(marks.began, idAt) : null
    if (from === null) return onChoose(toggled(chosen, run))
    const range = rangeOf(from, here.line).flatMap(line => runOf({ id: null, line }) ?? [])
    onChoose(withAll(chosen, range, !chosen.has(run.run_id)))
  }
  const move = (by: 1 | -1) => {
    const at = moved(marks.at, by, runs.lines, idAt)
    setKept({ ...marks, at })
    scrollTo(at.line)
  }
  const open = () => {
    const line = standing(marks.at)
    if (line?.kind === 'group') onToggleGroup(line.project)
    else if (line?.run)
      void navigate({ to: '/runs/$run_id', params: { run_id: line.run.short_id } })
  }
  const star = () => {
    const run = runOf(marks.at)
    if (run) onStar(run)
  }
  const acts: Readonly<Record<TableKey, () => void>> = {
    down: () => move(1),
    up: () => move(-1),
    choose: () => choose(marks.at, false),
    range: () => choose(marks.at, true),
    star,
    open,
  }
  useTableKeys(box, key => acts[key]())
  return { at: lineOf(marks.at, idAt), choose }
}
