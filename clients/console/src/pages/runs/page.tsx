import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Button } from '../../design/button.tsx'
import { Copyable } from '../../design/copy.tsx'
import { Empty, Failure } from '../../design/notice.tsx'
import type { StreamEvent } from '../../live/frames.ts'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reread } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import type { Ahead } from '../slice.ts'
import { BulkActions, editRow } from './bulk.tsx'
import { type Chosen, newest } from './choice.ts'
import { ColumnChooser } from './column-chooser.tsx'
import { columnsOf, namesOfColumns, textOfColumns } from './columns.ts'
import { afterChange, afterEditOf, type Edit, rowsAfter, type StateChange } from './live-state.ts'
import { joinNames, splitNames } from './names.ts'
import styles from './page.module.css'
import { viewOf } from './saved-views.ts'
import { isRefused, SearchBox } from './search-box.tsx'
import { RunTable } from './table.tsx'
import { readingRuns, showInLists, useRuns } from './use-runs.ts'
import { SavedViews } from './views.tsx'
import { words } from './words.ts'

/** Rows change without user action; all of them are refreshed at most this often, in milliseconds. */
const rereadMs = 2_000

const usualSort = '-created_at'

/** What the address asks the server for. */
const askedBy = (search: Search) => ({
  ...{ q: search.q ?? '', sort: search.sort ?? usualSort },
  ...namesOfColumns(columnsOf(search.cols)),
  ...marksOf(search),
})

export const ahead: Ahead = ({ search }) =>
  search.group === 'project' ? [] : [readingRuns(askedBy(search))]

export function Page() {
  const say = useWords(words)
  const search = useSearch({ strict: false })
  const { q = '', sort = usualSort, cols, group, closed = '' } = search
  const marks = marksOf(search)
  const navigate = useNavigate()
  const columns = columnsOf(cols)
  const isGrouped = group === 'project'
  const shut = splitNames(closed)
  const runs = useRuns({ ...askedBy(search), closed: isGrouped ? shut : null })
  const [chosen, setChosen] = useChosen()
  const go = useCallback(
    (change: Record<string, string | undefined>) =>
      void navigate({ to: '/runs', search: old => ({ ...old, ...change }) }),
    [navigate],
  )
  const [error, setError] = useState<unknown>(null)
  const star = (run: RunRow) => {
    setError(null)
    void editRow(run, { starred: !run.starred })
      .then(() => reread('/api/runs'))
      .catch(setError)
  }
  const toggleGroup = (project: string) => {
    const next = shut.includes(project) ? shut.filter(one => one !== project) : [...shut, project]
    go({ closed: joinNames(next) || undefined })
  }
  const isAll = q === '' && search.starred === undefined && search.archived === undefined
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{say.title}</h1>
        <span className={styles.soft} role="status">
          {runs.isKnown && say.count(runs.count, runs.isCounted)}
        </span>
        <Button
          aria-pressed={isGrouped}
          kind={isGrouped ? 'main' : 'plain'}
          onClick={() => go({ group: isGrouped ? undefined : 'project', closed: undefined })}
        >
          {say.byProject}
        </Button>
        <Toggle name="starred" search={search} onGo={go} text={say.onlyStarred} />
        <Toggle name="archived" search={search} onGo={go} text={say.onlyArchived} />
        <SavedViews search={viewOf(search)} onChoose={go} />
        <ColumnChooser columns={columns} onChange={next => go({ cols: textOfColumns(next) })} />
      </header>
      <SearchBox q={q} error={runs.error} onSearch={next => go({ q: next || undefined })} />
      <BulkActions chosen={newest(chosen, runs.loaded)} onClear={() => setChosen(new Map())} />
      <Failure error={error} />
      {runs.error !== null && !runs.isKnown && !isRefused(runs.error) && (
        <Failure error={runs.error} />
      )}
      {runs.isKnown && runs.count === 0 ? (
        <Empty text={isAll ? say.none : say.noneFound}>
          {isAll && <Copyable text="forge run --project demo -- python3 train.py" />}
        </Empty>
      ) : (
        <RunTable
          runs={runs}
          list={JSON.stringify([q, sort, isGrouped, marks])}
          columns={columns}
          sort={sort}
          chosen={chosen}
          onSort={next => go({ sort: next })}
          onChoose={setChosen}
          onToggleGroup={toggleGroup}
          onStar={star}
        />
      )}
    </div>
  )
}

type Search = Readonly<Record<string, string | undefined>>

type ToggleProps = {
  name: 'starred' | 'archived'
  search: Search
  onGo: (change: Search) => void
  text: string
}

/** Limits the list to the runs with a mark. */
function Toggle({ name, search, onGo, text }: ToggleProps) {
  const isOn = search[name] === 'true'
  return (
    <Button
      aria-pressed={isOn}
      kind={isOn ? 'main' : 'plain'}
      onClick={() => onGo({ [name]: isOn ? undefined : 'true' })}
    >
      {text}
    </Button>
  )
}

/** Archived runs are hidden, unless the view or its search is about them. */
function marksOf({ q = '', starred, archived }: Search) {
  const isSearched = /(^|[\s(])archived(:|!?=)/i.test(q)
  return {
    starred: starred === 'true' ? true : undefined,
    archived: archived === 'true' ? true : isSearched ? undefined : false,
  }
}

function afterEvent(event: string, data: unknown): ((run: RunRow) => RunRow) | null {
  if (event === 'state') return run => afterChange(run, data as StateChange)
  return event === 'edit' ? run => afterEditOf(run, data as Edit) : null
}

/** The selection. States change at once, in the lists as well; the lists are refreshed soon after. */
function useChosen() {
  const [chosen, setChosen] = useState<Chosen>(new Map())
  const again = useThrottled(() => reread('/api/runs'), rereadMs)
  const onEvent = ({ event, data }: StreamEvent) => {
    const after = afterEvent(event, data)
    if (after) {
      showInLists(rows => rowsAfter(rows, after))
      setChosen(now => new Map([...now].map(([id, run]) => [id, after(run)])))
    }
    again()
  }
  useLive('jobs', { onEvent, onGap: again })
  return [chosen, setChosen] as const
}
