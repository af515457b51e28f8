import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import type { RunRow } from '../../../../../schemas/run-records.ts'
import { Copyable } from '../../design/copy.tsx'
import { Empty, Failure } from '../../design/notice.tsx'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reread } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { BulkActions } from './bulk.tsx'
import { ColumnChooser } from './column-chooser.tsx'
import { columnsOf, keysOf, textOfColumns } from './columns.ts'
import styles from './page.module.css'
import { SearchBox } from './search-box.tsx'
import { RunTable } from './table.tsx'
import { useRuns } from './use-runs.ts'
import { SavedViews } from './views.tsx'
import { words } from './words.ts'

/** Rows change by themselves; all of them at most this often, in milliseconds. */
const rereadMs = 2_000

export function Page() {
  const say = useWords(words)
  const { q = '', sort = '-created_at', cols } = useSearch({ strict: false })
  const navigate = useNavigate()
  const columns = columnsOf(cols)
  const runs = useRuns({ q, sort })
  const metrics = keysOf(Array.from({ length: 50 }, (_, nth) => runs.at(nth)))
  const [chosen, setChosen] = useState<ReadonlyMap<string, RunRow>>(new Map())
  const again = useThrottled(() => void reread('/api/runs'), rereadMs)
  useLive('jobs', { onEvent: again, onGap: again })
  const go = useCallback(
    (change: Record<string, string | undefined>) =>
      void navigate({ to: '/runs', search: old => ({ ...old, ...change }) }),
    [navigate],
  )
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{say.title}</h1>
        <span className={styles.soft} role="status">
          {runs.isKnown && say.count(runs.count, runs.isCounted)}
        </span>
        <SavedViews search={{ q, sort, cols }} onChoose={view => go(view)} />
        <ColumnChooser
          columns={columns}
          metrics={metrics}
          onChange={next => go({ cols: textOfColumns(next) })}
        />
      </header>
      <SearchBox
        q={q}
        error={runs.error}
        metrics={metrics}
        onSearch={next => go({ q: next || undefined })}
      />
      <BulkActions chosen={chosen} onClear={() => setChosen(new Map())} />
      {runs.error !== null && !runs.isKnown && <Failure error={runs.error} />}
      {runs.isKnown && runs.count === 0 ? (
        <Empty text={q === '' ? say.none : say.noneFound}>
          {q === '' && <Copyable text="forge run --project demo -- python3 train.py" />}
        </Empty>
      ) : (
        <RunTable
          runs={runs}
          columns={columns}
          sort={sort}
          chosen={chosen}
          onSort={next => go({ sort: next })}
          onChoose={setChosen}
        />
      )}
    </div>
  )
}
