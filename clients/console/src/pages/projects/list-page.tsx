import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Static } from 'typebox'
import type { project } from '../../../../../schemas/projects.ts'
import { ListPage } from '../../design/list-page.tsx'
import { Empty } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords, wordsOf } from '../../words/words.ts'
import { words as ofProjects } from './words.ts'

const words = wordsOf({
  none: [
    'No projects yet. The first run of a project creates it:',
    '还没有项目。项目会随其第一个运行自动创建：',
  ],
  created: ['Created', '创建于'],
  notes: ['Notes', '备注'],
})

type Project = Static<typeof project>

const readingProjects = reading<Project[]>('/api/projects', { limit: 500 })
export const ahead = () => [readingProjects]

/** The projects one may read, each a workspace. */
export function Page() {
  const say = { ...useWords(ofProjects), ...useWords(words) }
  const projects = useQuery(readingProjects)
  return (
    <ListPage
      title={say.title}
      of={projects}
      none={<Empty text={say.none} command="forge run --project demo -- python3 train.py" />}
      keyOf={one => one.name}
      columns={[
        {
          key: 'name',
          title: say.name,
          cell: ({ name }) => (
            <Link to="/projects/$name" params={{ name }}>
              {name}
            </Link>
          ),
        },
        { key: 'runs', title: say.runs, isNumber: true, cell: one => one.runs.toLocaleString() },
        { key: 'owner', title: say.owner, cell: one => one.owner },
        { key: 'visibility', title: say.visibility, cell: one => say[one.visibility] },
        { key: 'created', title: say.created, cell: one => <Ago at={one.created_at} /> },
        { key: 'notes', title: say.notes, cell: one => visible(firstLine(one.notes)) },
      ]}
    />
  )
}

const firstLine = (text: string) => text.split('\n', 1)[0] ?? ''
