import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { Button } from '../../../design/button.tsx'
import { DownloadButton } from '../../../design/download-button.tsx'
import { Checkbox } from '../../../design/field.tsx'
import { addressOf } from '../../../session/api.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { errorPattern, type Filter, filterNames } from './filter.ts'
import { Filters } from './filters.tsx'
import { FoundLines } from './found.tsx'
import { HitBar } from './hit-bar.tsx'
import { useHits, useSeek } from './hits.ts'
import { LineList, lengthOfLog } from './lines.tsx'
import styles from './tab.module.css'
import { words } from './words.ts'

/** Lines beyond this are more than a page should hold. */
const largeBytes = 250_000_000

/** The log of a run: all of it, however long, or the lines that pass a filter. */
export function Tab({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const [isWrapped, setWrapped] = useState(false)
  const [hasTimes, setTimes] = useState(false)
  const filter: Filter = Object.fromEntries(
    filterNames.flatMap(name => (search[name] ? [[name, search[name]]] : [])),
  )
  const isFiltered = Object.keys(filter).length > 0
  const go = (change: Record<string, string | undefined>) =>
    void navigate({
      to: '/runs/$run_id/$tab',
      params: { run_id: run.short_id, tab: 'logs' },
      search: old => ({ ...old, ...change }),
      replace: true,
      resetScroll: false,
    })
  const line = Number(search.line ?? 0)
  const onLine = (seq: number) => go({ line: String(seq) })
  const look = useMemo(
    () => ({ isWrapped, hasTimes, found: search.grep ?? '' }),
    [isWrapped, hasTimes, search.grep],
  )
  const path = `${pathOfRun(run.run_id)}/logs`
  const hits = useHits(path, filter)
  const seek = useSeek({ path, filter, line, hits, onLine })
  const length = useQuery({ ...lengthOfLog(path), enabled: isFiltered })
  const hitBar = isFiltered && (
    <HitBar
      {...{ hits, seek, line }}
      last={length.data}
      onAll={() => go({ line: undefined })}
      onLeave={() => go({ ...nothing, line: undefined })}
    />
  )
  return (
    <div className={styles.tab}>
      <div className={styles.controls}>
        <Filters
          filter={filter}
          onChange={change => go({ ...change, line: undefined })}
          onAgain={way => void seek.seek(way)}
        />
        <Button onClick={() => go({ ...nothing, regex: errorPattern, line: undefined })}>
          {say.errors}
        </Button>
        <Checkbox
          label={say.wrap}
          checked={isWrapped}
          onChange={event => setWrapped(event.target.checked)}
        />
        <Checkbox
          label={say.times}
          checked={hasTimes}
          onChange={event => setTimes(event.target.checked)}
        />
        <DownloadButton
          path={addressOf(`/api/runs/${run.run_id}/logs/download`, filter)}
          name={`${run.short_id}.log`}
          isLarge={run.logs.bytes > largeBytes}
        >
          {say.download}
        </DownloadButton>
      </div>
      {isFiltered && line === 0 && <div className={styles.bar}>{hitBar}</div>}
      {isFiltered && line === 0 ? (
        <FoundLines hits={hits} look={look} onOpen={onLine} />
      ) : (
        <LineList run={run} look={look} line={line} onLine={onLine}>
          {hitBar}
        </LineList>
      )}
    </div>
  )
}

const nothing = Object.fromEntries(filterNames.map(name => [name, undefined]))
