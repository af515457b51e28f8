import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import type { UsageRow } from '../../../../../schemas/usage.ts'
import { TextField } from '../../design/field.tsx'
import { Empty, ShownRows } from '../../design/notice.tsx'
import { Figure, Figures, Num } from '../../design/number.tsx'
import { Report } from '../../design/report.tsx'
import { Share } from '../../design/share.tsx'
import { Table } from '../../design/table.tsx'
import { reading } from '../../session/api.ts'
import { useWords, wordsOf } from '../../words/words.ts'

const words = wordsOf({
  title: ['Usage', '用量'],
  by: ['By', '分组'],
  user: ['Person', '人员'],
  project: ['Project', '项目'],
  day: ['Day', '日期'],
  from: ['From', '起'],
  to: ['To', '止'],
  cost: [(currency: string) => `Cost, ${currency}`, (currency: string) => `费用 (${currency})`],
  hours: ['GPU-hours', 'GPU 小时'],
  runs: ['Runs', '运行'],
  share: ['Share', '占比'],
  none: ['No GPU time was used in these days.', '这些日期没有使用 GPU。'],
})

const groups = ['user', 'project', 'day'] as const

/** GPU time and its cost, of the last 30 days unless others are chosen. */
export function Page() {
  const say = useWords(words)
  const { by, from, to } = useSearch({ strict: false })
  const group = groups.find(one => one === by) ?? 'user'
  const usage = useQuery(reading<UsageRow[]>('/api/usage', { group, from, to, limit: 500 }))
  return (
    <Report
      {...{ title: say.title, to: '/usage', say, groups, group }}
      controls={change =>
        (['from', 'to'] as const).map(name => (
          <TextField
            key={name}
            label={say[name]}
            type="date"
            value={{ from, to }[name] ?? ''}
            onChange={event => change({ [name]: event.target.value || undefined })}
          />
        ))
      }
    >
      <ShownRows of={usage} none={<Empty text={say.none} />}>
        {rows => <Found rows={rows} title={say[group]} />}
      </ShownRows>
    </Report>
  )
}

const sumOf = (rows: readonly UsageRow[], of: (row: UsageRow) => number): number =>
  rows.reduce((sum, row) => sum + of(row), 0)

function Found({ rows, title }: { rows: readonly UsageRow[]; title: string }) {
  const say = useWords(words)
  const [first] = rows
  const cost = sumOf(rows, row => Number(row.cost))
  const currency = first?.currency ?? ''
  return (
    <>
      <Figures>
        <Figure value={cost} name={say.cost(currency)} />
        <Figure value={sumOf(rows, row => Number(row.gpu_hours))} name={say.hours} />
      </Figures>
      <Table
        caption={say.title}
        rows={rows}
        keyOf={row => row.group}
        columns={[
          { key: 'group', title, cell: row => row.group },
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
              <Share part={Number(row.cost)} whole={cost} label={`${say.share}: ${row.group}`} />
            ),
          },
          {
            key: 'hours',
            title: say.hours,
            isNumber: true,
            cell: row => <Num value={Number(row.gpu_hours)} label={row.gpu_hours} />,
          },
          { key: 'runs', title: say.runs, isNumber: true, cell: row => row.runs },
        ]}
      />
    </>
  )
}
