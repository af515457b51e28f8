import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type {
  BenchmarkRecord,
  LeaderboardRow,
} from '../../../../../schemas/benchmarks/catalogue.ts'
import { Button } from '../../design/button.tsx'
import { Select } from '../../design/field.tsx'
import layout from '../../design/layout.module.css'
import { More } from '../../design/more.tsx'
import { Empty, Shown } from '../../design/notice.tsx'
import { Num } from '../../design/number.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import type { Column } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { ApiFailure } from '../../session/failure.ts'
import { usePages } from '../../session/use-pages.ts'
import { NotFound } from '../../shell/wrong-turns.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { Define } from './define.tsx'
import { ErrorBar, type Range, rangeOf } from './error-bar.tsx'
import { History } from './history.tsx'
import styles from './page.module.css'
import { words } from './words.ts'

const againMs = 30_000
const whole = /^[1-9]\d{0,5}$/

/** The leaderboard of a benchmark, in its newest version or the one in the address. */
export function Page() {
  const { name = '' } = useParams({ strict: false })
  const { version: asked } = useSearch({ strict: false })
  const path = `/api/benchmarks/${encodeURIComponent(name)}`
  const version = whole.test(String(asked)) ? Number(asked) : undefined
  const found = useQuery(reading<BenchmarkRecord>(path, version === undefined ? {} : { version }))
  if (found.error instanceof ApiFailure && found.error.status === 404)
    return <NotFound error={found.error} />
  return <Shown of={found}>{one => <Board benchmark={one} path={path} />}</Shown>
}

function Board({ benchmark, path }: { benchmark: BenchmarkRecord; path: string }) {
  const say = useWords(words)
  const { name, version, description } = benchmark
  const [isDefining, setDefining] = useState(false)
  const { each: asked } = useSearch({ strict: false })
  const each = asked === 'result' ? 'result' : 'run'
  const rows = usePages<LeaderboardRow>(`${path}/leaderboard`, {
    query: { version, each },
    size: 100,
    keyOf: row => row.result_id + row.run_id,
    everyMs: againMs,
  })
  return (
    <div className={layout.sheet}>
      <header className={layout.head}>
        <h1>
          {name}@{version}
        </h1>
        <Button onClick={() => setDefining(true)}>{say.next}</Button>
      </header>
      {isDefining && <Define known={benchmark} onClose={() => setDefining(false)} />}
      <Facts of={benchmark} />
      {description !== '' && <p className={styles.description}>{visible(description)}</p>}
      <Controls {...{ name, version, path, each }} />
      <QueryTable
        of={rows}
        none={<Empty text={say.noResult} command="POST /api/ingest/benchmark" />}
        caption={say.leaderboard}
        keyOf={row => row.result_id + row.run_id}
        columns={columnsOf(say, rangeOf(rows.data ?? []))}
      />
      <More of={rows} />
      <History path={path} version={version} />
    </div>
  )
}

function Facts({ of }: { of: BenchmarkRecord }) {
  const say = useWords(words)
  const { harness } = of
  const facts: [string, string | null][] = [
    [say.metric, `${of.metric}, ${of.higher_is_better ? say.higher : say.lower}`],
    [say.task, of.task],
    [say.split, of.split],
    [say.dataset, of.dataset],
    [
      say.harness,
      harness && [harness.name, harness.version, harness.commit].filter(Boolean).join(' '),
    ],
    [say.owner, of.owner],
  ]
  return (
    <p className={layout.facts}>
      {facts.map(([title, value]) =>
        value === null ? null : (
          <span key={title}>
            {title} {visible(value)}
          </span>
        ),
      )}
    </p>
  )
}

type ControlsProps = { name: string; version: number; path: string; each: 'run' | 'result' }

function Controls({ name, version, path, each }: ControlsProps) {
  const say = useWords(words)
  const navigate = useNavigate()
  const versions = useQuery(reading<BenchmarkRecord[]>(`${path}/versions`, { limit: 500 }))
  const go = (change: Readonly<Record<string, string | undefined>>) =>
    void navigate({
      to: '/benchmarks/$name',
      params: { name },
      search: old => ({ ...old, ...change }),
      replace: true,
    })
  const known = versions.data?.map(one => one.version) ?? [version]
  return (
    <div className={layout.controls}>
      <Select
        label={say.version}
        value={String(version)}
        choices={known.map(one => ({ value: String(one), text: String(one) }))}
        onChange={next => go({ version: next === String(known[0]) ? undefined : next })}
      />
      <Select
        label={say.show}
        value={each}
        choices={[
          { value: 'run', text: say.eachRun },
          { value: 'result', text: say.eachResult },
        ]}
        onChange={next => go({ each: next === 'run' ? undefined : next })}
      />
    </div>
  )
}

const columnsOf = (say: (typeof words)['en'], range: Range | null): Column<LeaderboardRow>[] => [
  { key: 'rank', title: say.rank, isNumber: true, cell: row => row.rank },
  {
    key: 'run',
    title: say.run,
    cell: ({ short_id, run_name }) => (
      <Link to="/runs/$run_id" params={{ run_id: short_id }} title={short_id}>
        {visible(run_name)}
      </Link>
    ),
  },
  { key: 'value', title: say.value, isNumber: true, cell: row => <Num value={row.value} /> },
  { key: 'bar', title: say.error, cell: row => <ErrorBar of={row} range={range} /> },
  { key: 'n', title: say.count, isNumber: true, cell: row => row.n },
  { key: 'step', title: say.step, isNumber: true, cell: row => row.step },
  {
    key: 'model',
    title: say.model,
    cell: ({ model }) => <span className={styles.model}>{visible(model ?? '')}</span>,
  },
  { key: 'project', title: say.project, cell: row => row.project },
  { key: 'recorded', title: say.recorded, cell: row => <Ago at={row.recorded_at} /> },
]
