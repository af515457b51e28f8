import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { Chart } from '../../../charts/chart.tsx'
import { plainView } from '../../../charts/view.ts'
import type { Range } from '../../../charts/zoom.ts'
import { Copyable } from '../../../design/copy.tsx'
import { TextField } from '../../../design/field.tsx'
import { Panel } from '../../../design/panel.tsx'
import { Table } from '../../../design/table.tsx'
import { useLive, useThrottled } from '../../../live/use-live.ts'
import { reread } from '../../../session/api.ts'
import { shortNumber } from '../../../words/amounts.ts'
import { matching } from '../../../words/matching.ts'
import { visible } from '../../../words/visible.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { useSource } from '../use-source.ts'
import { Alerts } from './alerts.tsx'
import { Diagnosed } from './diagnosis.tsx'
import { keyChartsOf } from './key-charts.ts'
import { LastWords } from './last-words.tsx'
import { Notes } from './notes.tsx'
import { Plugins } from './plugins.tsx'
import styles from './tab.module.css'
import { words } from './words.ts'

export function Tab({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const again = useThrottled(() => reread(pathOfRun(run.run_id)), 1_500)
  useLive(run.ended_at === null ? `metrics:${run.run_id}` : null, {
    onEvent: ({ event }) => event === 'points' && again(),
    onGap: again,
  })
  const source = useSource(run)
  const [range, setRange] = useState<Range>(null)
  const view = useMemo(() => ({ ...plainView, range }), [range])
  return (
    <div className={styles.tab}>
      <Diagnosed run={run} />
      <Alerts run={run} />
      <LastWords run={run} />
      <div className={styles.charts}>
        <h2 className="visually-hidden">{say.charts}</h2>
        {keyChartsOf(Object.keys(run.summary)).map(key => (
          <Chart
            key={key}
            title={key}
            source={{ ...source, keys: [key] }}
            view={view}
            onZoom={setRange}
          />
        ))}
      </div>
      <Notes run={run} />
      <Best run={run} />
      <div className={styles.columns}>
        <Values title={say.hparams} values={run.hparams} />
        <Metrics run={run} />
      </div>
      {Object.keys(run.labels).length > 0 && <Values title={say.labels} values={run.labels} />}
      <Plugins run={run} />
      <Lineage run={run} />
    </div>
  )
}

const textOfValue = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

function Values({ title, values }: { title: string; values: Readonly<Record<string, unknown>> }) {
  const say = useWords(words)
  const [filter, setFilter] = useState('')
  const names = matching(Object.keys(values).sort(), filter) ?? []
  return (
    <Panel title={title}>
      {Object.keys(values).length > 10 && (
        <TextField
          label={say.filter}
          type="search"
          value={filter}
          onChange={event => setFilter(event.target.value)}
        />
      )}
      {Object.keys(values).length === 0 ? (
        <p className={styles.soft}>{say.noHparams}</p>
      ) : (
        <Table
          caption={say.table(title)}
          rows={names}
          keyOf={name => name}
          columns={[
            {
              key: 'name',
              title: say.name,
              cell: name => <span className={styles.long}>{visible(name)}</span>,
            },
            {
              key: 'value',
              title: say.value,
              cell: name => (
                <span className={styles.long}>{visible(textOfValue(values[name]))}</span>
              ),
            },
          ]}
        />
      )}
    </Panel>
  )
}

const shownMetrics = 30

function Metrics({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const rows = Object.entries(run.summary).slice(0, shownMetrics)
  const shown = (value: unknown) => (typeof value === 'number' ? shortNumber(value, 5) : value)
  return (
    <Panel
      title={say.metrics}
      actions={
        <Link to="/runs/$run_id/$tab" params={{ run_id: run.short_id, tab: 'metrics' }}>
          {say.allCharts}
        </Link>
      }
    >
      {rows.length === 0 ? (
        <p className={styles.soft}>{say.noMetrics}</p>
      ) : (
        <Table
          caption={say.table(say.metrics)}
          rows={rows}
          keyOf={([key]) => key}
          columns={[
            {
              key: 'key',
              title: say.name,
              cell: ([key]) => <span className={styles.long}>{visible(key)}</span>,
            },
            {
              key: 'last',
              title: say.last,
              isNumber: true,
              cell: ([, one]) => <>{shown(one.last)}</>,
            },
            { key: 'min', title: 'min', isNumber: true, cell: ([, one]) => <>{shown(one.min)}</> },
            { key: 'max', title: 'max', isNumber: true, cell: ([, one]) => <>{shown(one.max)}</> },
            { key: 'step', title: say.step, isNumber: true, cell: ([, one]) => one.step },
          ]}
        />
      )}
    </Panel>
  )
}

/** The checkpoint that its code marked as the best. */
function Best({ run: { best, short_id } }: { run: RunRecord }) {
  const say = useWords(words)
  if (best === null) return null
  const { key, goal, value, step, artifact_id } = best
  return (
    <Panel
      title={say.best}
      actions={
        <Link to="/runs/$run_id/$tab" params={{ run_id: short_id, tab: 'artifacts' }}>
          {say.artifacts}
        </Link>
      }
    >
      <p className={styles.best}>
        <span>
          {key} ({goal}) <strong>{value === null ? '–' : shortNumber(value)}</strong>
        </span>
        {step !== null && (
          <span>
            {say.step} {step}
          </span>
        )}
        {artifact_id !== null && <Copyable text={artifact_id} />}
      </p>
    </Panel>
  )
}

/** Where the run began, and which runs started from it. */
function Lineage({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const { init_from, environments, children } = run.lineage
  if (init_from.length + environments.length + children.length === 0) return null
  return (
    <Panel title={say.lineage}>
      {init_from.length > 0 && (
        <p>
          {say.from} {init_from.join(', ')}
        </p>
      )}
      {environments.length > 0 && (
        <p>
          {say.environments}{' '}
          {environments.map(({ ref, digest }) => (
            <EnvironmentLink key={ref} {...{ of: ref, digest }} />
          ))}
        </p>
      )}
      {children.length > 0 && (
        <p>
          {say.children}{' '}
          {children.map(id => (
            <Link key={id} to="/runs/$run_id" params={{ run_id: id }} className={styles.child}>
              {id}
            </Link>
          ))}
        </p>
      )}
    </Panel>
  )
}

/** Its digest is in the title: the run used exactly these files. */
function EnvironmentLink({ of, digest }: { of: string; digest: string }) {
  const [owner = '', name = '', version = ''] = of.split(/[/@]/)
  const at = { params: { owner, name }, search: { version } }
  return (
    <Link to="/environments/$owner/$name" {...at} title={digest} className={styles.child}>
      {of}
    </Link>
  )
}
