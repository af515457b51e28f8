import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { BenchmarkRecord } from '../../../../../schemas/benchmarks/catalogue.ts'
import { Button } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { ListPage } from '../../design/list-page.tsx'
import { Empty } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { Define } from './define.tsx'
import { words } from './words.ts'

const readingBenchmarks = reading<BenchmarkRecord[]>('/api/benchmarks', { limit: 500 })
export const ahead = () => [readingBenchmarks]

/** The catalogue. */
export function Page() {
  const say = useWords(words)
  const [isDefining, setDefining] = useState(false)
  const benchmarks = useQuery(readingBenchmarks)
  return (
    <ListPage
      title={say.title}
      actions={<Button onClick={() => setDefining(true)}>{say.defineOne}</Button>}
      of={benchmarks}
      none={<Empty text={say.none} command="forge bench define gsm8k --metric exact_match" />}
      keyOf={one => one.name}
      columns={[
        {
          key: 'name',
          title: say.benchmark,
          cell: ({ name, version }) => (
            <Link to="/benchmarks/$name" params={{ name }}>
              {name}@{version}
            </Link>
          ),
        },
        {
          key: 'metric',
          title: say.metric,
          cell: ({ metric, higher_is_better }) => (
            <>
              {visible(metric)}{' '}
              <span className={layout.soft}>{higher_is_better ? say.higher : say.lower}</span>
            </>
          ),
        },
        { key: 'split', title: say.split, cell: ({ split }) => visible(split ?? '') },
        { key: 'dataset', title: say.dataset, cell: ({ dataset }) => visible(dataset ?? '') },
        { key: 'owner', title: say.owner, cell: one => one.owner },
        { key: 'defined', title: say.defined, cell: one => <Ago at={one.defined_at} /> },
      ]}
    >
      {isDefining && <Define onClose={() => setDefining(false)} />}
    </ListPage>
  )
}
