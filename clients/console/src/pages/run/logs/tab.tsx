import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Button } from '../../../design/button.tsx'
import { TextField } from '../../../design/field.tsx'
import { addressOf } from '../../../session/api.ts'
import { download } from '../../../session/download.ts'
import { useWords } from '../../../words/words.ts'
import type { RunRecord } from '../use-run.ts'
import { errorPattern, type Filter, filterNames, filterOf } from './filter.ts'
import { FoundLines } from './found.tsx'
import { LineList } from './lines.tsx'
import styles from './tab.module.css'
import { words } from './words.ts'

/** The log of a run: all of it, however long, or what a filter leaves of it. */
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
    })
  const look = { isWrapped, hasTimes, runId: run.run_id }
  return (
    <div className={styles.tab}>
      <div className={styles.controls}>
        <Filters key={JSON.stringify(filter)} filter={filter} onChange={go} />
        <Button onClick={() => go({ ...nothing, regex: errorPattern })}>{say.errors}</Button>
        <label>
          <input
            type="checkbox"
            checked={isWrapped}
            onChange={event => setWrapped(event.target.checked)}
          />{' '}
          {say.wrap}
        </label>
        <label>
          <input
            type="checkbox"
            checked={hasTimes}
            onChange={event => setTimes(event.target.checked)}
          />{' '}
          {say.times}
        </label>
        <Button
          onClick={() =>
            void download(
              addressOf(`/api/runs/${run.run_id}/logs/download`, filter),
              `${run.short_id}.log`,
            )
          }
        >
          {say.download}
        </Button>
      </div>
      {isFiltered ? (
        <FoundLines
          key={JSON.stringify(filter)}
          filter={filter}
          look={look}
          onOpen={seq => go({ ...nothing, line: String(seq) })}
          onLeave={() => go(nothing)}
        />
      ) : (
        <LineList
          run={run}
          look={look}
          line={Number(search.line ?? 0)}
          onLine={seq => go({ line: String(seq) })}
        />
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
