import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { SummaryRow } from '../../../../../schemas/billing.ts'
import { DownloadButton } from '../../design/download-button.tsx'
import { Select, TextField } from '../../design/field.tsx'
import { Empty, ShownRows } from '../../design/notice.tsx'
import { Figure, Figures, Num } from '../../design/number.tsx'
import { Share } from '../../design/share.tsx'
import { Table } from '../../design/table.tsx'
import { addressOf, reading } from '../../session/api.ts'
import type { Me } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import { Budgets } from './budgets.tsx'
import { forecastOf, monthBefore, thisMonth } from './months.ts'
import styles from './page.module.css'
import { Rates } from './rates.tsx'
import { words } from './words.ts'

const groups = ['project', 'user', 'team', 'run', 'day', 'kind'] as const
const path = '/api/billing/summary'

/** The bill of a month compared with the previous one, budgets, and for administrators the rates. */
export function Page() {
  const say = useWords(words)
  const navigate = useNavigate()
  const me = useQuery(reading<Me>('/api/auth/me'))
  const { by, month: asked } = useSearch({ strict: false })
  const group = groups.find(one => one === by) ?? 'project'
  const month = /^\d{4}-\d{2}$/.test(asked ?? '') ? (asked ?? '') : thisMonth(new Date())
  const bill = useQuery(reading<SummaryRow[]>(path, { group, month, limit: 500 }))
  const before = useQuery(
    reading<SummaryRow[]>(path, { group, month: monthBefore(month), limit: 500 }),
  )
  const go = (change: Readonly<Record<string, string | undefined>>) =>
    void navigate({ to: '/billing', search: old => ({ ...old, ...change }), replace: true })
  return (
    <div className={styles.page}>
      <h1>{say.title}</h1>
      <div className={styles.controls}>
        <Select
          label={say.by}
          value={group}
          choices={groups.map(value => ({ value, text: say[value] }))}
          onChange={next => go({ by: next })}
        />
        <TextField
          label={say.month}
          type="month"
          value={month}
          onChange={event => go({ month: event.target.value || undefined })}
        />
        {(['csv', 'focus'] as const).map(format => (
          <DownloadButton
            key={format}
            path={addressOf('/api/billing/export', { month, format })}
            name={`billing-${month}-${format}.csv`}
          >
            {say[format]}
          </DownloadButton>
        ))}
      </div>
      <ShownRows of={bill} none={<Empty text={say.none} />}>
        {rows => (
          <Bill
            rows={rows}
            before={before.data ?? []}
            title={say[group]}
            month={month}
            isDays={group === 'day'}
          />
        )}
      </ShownRows>
      <Budgets />
      {me.data?.role === 'admin' && <Rates />}
    </div>
  )
}

const costOf = (rows: readonly SummaryRow[]): number =>
  rows.reduce((sum, row) => sum + Number(row.cost), 0)

type BillProps = {
  rows: readonly SummaryRow[]
  before: readonly SummaryRow[]
  title: string
  month: string
  /** Days of different months are not compared. */
  isDays: boolean
}

function Bill({ rows, before, title, month, isDays }: BillProps) {
  const say = useWords(words)
  const cost = costOf(rows)
  const currency = rows[0]?.currency ?? ''
  const earlier = new Map(before.map(row => [row.group, Number(row.cost)]))
  const forecast = forecastOf(cost, month, new Date())
  return (
    <>
      <Figures>
        <Figure value={cost} name={say.cost(currency)} />
        <Figure value={costOf(before)} name={say.before} />
        {forecast !== null && <Figure value={forecast} name={say.forecast} />}
      </Figures>
      <Table
        caption={say.title}
        rows={rows}
        keyOf={row => row.group ?? ''}
        columns={[
          { key: 'group', title, cell: row => row.group ?? say.nothing },
          {
            key: 'cost',
            title: say.cost(currency),
            isNumber: true,
            cell: row => <Num value={Number(row.cost)} label={row.cost} />,
          },
          {
            key: 'share',
            title: say.share,
            cell: row => (
              <Share
                part={Number(row.cost)}
                whole={cost}
                label={`${say.share}: ${row.group ?? say.nothing}`}
              />
            ),
          },
          ...(isDays
            ? []
            : [
                {
                  key: 'before',
                  title: say.before,
                  isNumber: true,
                  cell: (row: SummaryRow) => <Num value={earlier.get(row.group) ?? 0} />,
                },
              ]),
          {
            key: 'hours',
            title: say.hours,
            isNumber: true,
            cell: row => <Num value={row.gpu_seconds / 3600} />,
          },
          {
            key: 'gbHours',
            title: say.gbHours,
            isNumber: true,
            cell: row => <Num value={Number(row.gb_hours)} label={row.gb_hours} />,
          },
        ]}
      />
    </>
  )
}
