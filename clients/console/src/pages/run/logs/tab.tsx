import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Button } from '../../../design/button.tsx'
import { DownloadButton } from '../../../design/download-button.tsx'
import { Checkbox, TextField } from '../../../design/field.tsx'
import { addressOf } from '../../../session/api.ts'
import { useWords } from '../../../words/words.ts'
import type { RunRecord } from '../use-run.ts'
import { errorPattern, type Filter, filterNames, filterOf } from './filter.ts'
import { FoundLines } from './found.tsx'
import { HitBar } from './hit-bar.tsx'
import { LineList } from './lines.tsx'
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
  const look = { isWrapped, hasTimes, runId: run.run_id }
  return (
    <div className={styles.tab}>
      <div className={styles.controls}>
        <Filters
          key={JSON.stringify(filter)}
          filter={filter}
          onChange={change => go({ ...change, line: undefined })}
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
      {isFiltered && line === 0 ? (
        <FoundLines
          key={JSON.stringify(filter)}
          filter={filter}
          look={look}
          onOpen={onLine}
          onLeave={() => go(nothing)}
        />
      ) : (
        <>
          {isFiltered && (
            <HitBar
              runId={run.run_id}
              filter={filter}
              line={line}
              onLine={onLine}
              onAll={() => go({ line: undefined })}
            />
          )}
          <LineList run={run} look={look} line={line} onLine={onLine} />
        </>
      )}
    </div>
  )
}

const nothing = Object.fromEntries(filterNames.map(name => [name, undefined]))

type FiltersProps = {
  filter: Filter
  onChange: (change: Record<string, string | undefined>) => void
}

function Filters({ filter, onChange }: FiltersProps) {
  const say = useWords(words)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = [...new FormData(event.currentTarget)]
    onChange(filterOf(Object.fromEntries(given.map(([name, value]) => [name, String(value)]))))
  }
  return (
    <form role="search" className={styles.filters} onSubmit={submit}>
      <TextField
        label={say.search}
        name="text"
        type="search"
        maxLength={256}
        defaultValue={filter.regex ?? filter.grep}
      />
      <label title={say.regexHelp}>
        <input type="checkbox" name="isRegex" defaultChecked={filter.regex !== undefined} />{' '}
        {say.regex}
      </label>
      <TextField
        label={say.rank}
        name="rank"
        inputMode="numeric"
        pattern="\d*"
        defaultValue={filter.rank}
      />
      <TextField
        label={say.attempt}
        name="attempt"
        inputMode="numeric"
        pattern="\d*"
        defaultValue={filter.attempt}
      />
      <TextField label={say.node} name="node" defaultValue={filter.node} />
      <TextField label={say.stream} name="stream" defaultValue={filter.stream} list="log-streams" />
      <datalist id="log-streams">
        <option value="stdout" />
        <option value="stderr" />
      </datalist>
      <Button type="submit">{say.find}</Button>
    </form>
  )
}
