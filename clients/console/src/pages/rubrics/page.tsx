import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Static } from 'typebox'
import type { rubric } from '../../../../../schemas/rubrics.ts'
import { Copyable } from '../../design/copy.tsx'
import { Empty, Shown } from '../../design/notice.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

export type Rubric = Static<typeof rubric>

export function Page() {
  const say = useWords(words)
  const rubrics = useQuery(reading<Rubric[]>('/api/rubrics', { limit: 500 }))
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{say.title}</h1>
        <Link to="/rubrics/$owner/$name" params={{ owner: 'me', name: 'new' }}>
          {say.new}
        </Link>
      </header>
      <Shown of={rubrics}>
        {rows =>
          rows.length === 0 ? (
            <Empty text={say.none}>
              <Copyable text="PUT /api/rubrics/{owner}/{name}" />
            </Empty>
          ) : (
            <Table
              caption={say.title}
              rows={rows}
              keyOf={one => `${one.owner}/${one.name}`}
              columns={[
                {
                  key: 'name',
                  title: say.name,
                  cell: ({ owner, name }) => (
                    <Link to="/rubrics/$owner/$name" params={{ owner, name }}>
                      {owner}/{name}
                    </Link>
                  ),
                },
                { key: 'description', title: say.description, cell: one => one.description },
                {
                  key: 'criteria',
                  title: say.criteria,
                  isNumber: true,
                  cell: one => one.criteria.length,
                },
                { key: 'version', title: say.version, isNumber: true, cell: one => one.version },
                { key: 'visibility', title: say.visibility, cell: one => say[one.visibility] },
                { key: 'updated', title: say.updated, cell: one => <Ago at={one.updated_at} /> },
              ]}
            />
          )
        }
      </Shown>
    </div>
  )
}
