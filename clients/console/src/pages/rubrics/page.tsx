import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Static } from 'typebox'
import type { rubric } from '../../../../../schemas/rubrics/rubrics.ts'
import { linkButton } from '../../design/button.tsx'
import { ListPage } from '../../design/list-page.tsx'
import { Empty } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { words } from './words.ts'

export type Rubric = Static<typeof rubric>

const readingRubrics = reading<Rubric[]>('/api/rubrics', { limit: 500 })
export const ahead = () => [readingRubrics]

export function Page() {
  const say = useWords(words)
  const rubrics = useQuery(readingRubrics)
  return (
    <ListPage
      title={say.title}
      actions={
        <Link
          to="/rubrics/$owner/$name"
          params={{ owner: 'me', name: 'new' }}
          className={linkButton}
        >
          {say.new}
        </Link>
      }
      of={rubrics}
      none={<Empty text={say.none} command="PUT /api/rubrics/{owner}/{name}" />}
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
