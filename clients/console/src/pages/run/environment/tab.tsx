import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Static } from 'typebox'
import type { environmentAnswer } from '../../../../../../schemas/environment.ts'
import { TextField } from '../../../design/field.tsx'
import { Empty, Shown } from '../../../design/notice.tsx'
import { Table } from '../../../design/table.tsx'
import { Ago } from '../../../design/time.tsx'
import { reading } from '../../../session/api.ts'
import { matching } from '../../../words/matching.ts'
import { useWords, wordsOf } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { factsOf } from './facts.ts'
import { Nodes } from './nodes.tsx'
import styles from './tab.module.css'

const words = wordsOf({
  none: [
    'Nothing was captured. The Python client does this automatically.',
    '未采集环境。Python 客户端会自动采集。',
  ],
  title: ['Environment', '环境'],
  filter: ['Filter, e.g. packages.torch', '筛选，例如 packages.torch'],
  captured: ['Captured', '采集于'],
  name: ['Fact', '项目'],
  value: ['Value', '值'],
})

type Answer = Static<typeof environmentAnswer>

export function Tab({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const { q: filter = '' } = useSearch({ strict: false })
  const navigate = useNavigate()
  const setFilter = (text: string) =>
    void navigate({
      to: '/runs/$run_id/$tab',
      params: { run_id: run.short_id, tab: 'environment' },
      search: old => ({ ...old, q: text || undefined }),
      replace: true,
      resetScroll: false,
    })
  const answer = useQuery(reading<Answer>(`${pathOfRun(run.run_id)}/environment`))
  return (
    <div className={styles.tab}>
      <Nodes run={run} />
      <Shown of={answer}>
        {({ environment, captured_at }) => {
          if (environment === null) return <Empty text={say.none} />
          const facts = factsOf(environment)
          const names = matching([...facts.keys()], filter) ?? []
          return (
            <>
              <TextField
                label={say.filter}
                type="search"
                value={filter}
                onChange={event => setFilter(event.target.value)}
              />
              {captured_at !== null && (
                <p>
                  {say.captured} <Ago at={captured_at} />
                </p>
              )}
              <Table
                caption={say.title}
                rows={names}
                keyOf={name => name}
                columns={[
                  { key: 'name', title: say.name, cell: name => <code>{name}</code> },
                  {
                    key: 'value',
                    title: say.value,
                    cell: name => <span className={styles.value}>{facts.get(name)}</span>,
                  },
                ]}
              />
            </>
          )
        }}
      </Shown>
    </div>
  )
}
