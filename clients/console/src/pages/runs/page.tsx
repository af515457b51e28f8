import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Copyable } from '../../design/copy.tsx'
import { Empty, Failure } from '../../design/notice.tsx'
import type { StreamEvent } from '../../live/frames.ts'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reread } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { BulkActions } from './bulk.tsx'
import { type Chosen, newest } from './choice.ts'
import { ColumnChooser } from './column-chooser.tsx'
import { columnsOf, namesOfColumns, textOfColumns } from './columns.ts'
import { afterChange, type StateChange } from './live-state.ts'
import { joinNames, splitNames } from './names.ts'
import styles from './page.module.css'
import { isRefused, SearchBox } from './search-box.tsx'
import { RunTable } from './table.tsx'
import { showChange, useRuns } from './use-runs.ts'
import { SavedViews } from './views.tsx'
import { words } from './words.ts'

/** Rows change without user action; all of them are refreshed at most this often, in milliseconds. */
const rereadMs = 2_000

export function Page() {
  const say = useWords(words)
  const { q = '', sort = '-created_at', cols, group, closed = '' } = useSearch({ strict: false })
  const navigate = useNavigate()
  const columns = columnsOf(cols)
  const isGrouped = group === 'project'
  const shut = splitNames(closed)
  const runs = useRuns({ q, sort, ...namesOfColumns(columns), closed: isGrouped ? shut : null })
  const [chosen, setChosen] = useChosen()
  const go = useCallback(
    (change: Record<string, string | undefined>) =>
      void navigate({ to: '/runs', search: old => ({ ...old, ...change }) }),
    [navigate],
  )
  const toggleGroup = (project: string) => {
    const next = shut.includes(project) ? shut.filter(one => one !== project) : [...shut, project]
    go({ closed: joinNames(next) || undefined })
  }
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
        <SavedViews search={{ q, sort, cols, group }} onChoose={go} />
        <ColumnChooser columns={columns} onChange={next => go({ cols: textOfColumns(next) })} />
      </header>
      <SearchBox q={q} error={runs.error} onSearch={next => go({ q: next || undefined })} />
      <BulkActions chosen={newest(chosen, runs.loaded)} onClear={() => setChosen(new Map())} />
      {runs.error !== null && !runs.isKnown && !isRefused(runs.error) && (
        <Failure error={runs.error} />
      )}
      {runs.isKnown && runs.count === 0 ? (
        <Empty text={q === '' ? say.none : say.noneFound}>
          {q === '' && <Copyable text="forge run --project demo -- python3 train.py" />}
        </Empty>
      ) : (
        <RunTable
          runs={runs}
          list={JSON.stringify([q, sort, isGrouped])}
          columns={columns}
          sort={sort}
          chosen={chosen}
          onSort={next => go({ sort: next })}
          onChoose={setChosen}
          onToggleGroup={toggleGroup}
        />
      )}
    </div>
  )
}

/** The selection. States change at once, in the lists as well; the lists are refreshed soon after. */
function useChosen() {
  const [chosen, setChosen] = useState<Chosen>(new Map())
  const again = useThrottled(() => reread('/api/runs'), rereadMs)
  const onEvent = ({ event, data }: StreamEvent) => {
    if (event === 'state') {
      const change = data as StateChange
      showChange(change)
      setChosen(now => new Map([...now].map(([id, run]) => [id, afterChange(run, change)])))
    }
    again()
  }
  useLive('jobs', { onEvent, onGap: again })
  return [chosen, setChosen] as const
}
