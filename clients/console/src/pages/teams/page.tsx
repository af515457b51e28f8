import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { TeamRow } from '../../../../../schemas/teams.ts'
import { Button } from '../../design/button.tsx'
import { ListPage } from '../../design/list-page.tsx'
import { Empty } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { usePart } from '../../design/use-part.ts'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { list } from './paths.ts'
import { words } from './words.ts'

const loadCreate = () => import('./create.tsx')
const readingTeams = reading<TeamRow[]>(list, { limit: 500 })
export const ahead = () => [readingTeams]

/** One's own teams; administrators see all. */
export function Page() {
  const say = useWords(words)
  const [isCreating, setCreating] = useState(false)
  const create = usePart(isCreating ? loadCreate : null)
  const teams = useQuery(readingTeams)
  return (
    <ListPage
      title={say.title}
      actions={
        <Button kind="main" onClick={() => setCreating(true)}>
          {say.create}
        </Button>
      }
      about={say.about}
      of={teams}
      none={<Empty text={say.none} command="forge team create rl" />}
      keyOf={one => one.name}
      columns={[
        {
          key: 'name',
          title: say.team,
          cell: ({ name }) => (
            <Link to="/teams/$name" params={{ name }}>
              {name}
            </Link>
          ),
        },
        {
          key: 'role',
          title: say.yourRole,
          cell: one => (one.my_role === null ? '' : say[one.my_role]),
        },
        { key: 'members', title: say.members, isNumber: true, cell: one => one.members },
        { key: 'projects', title: say.projects, isNumber: true, cell: one => one.projects },
        { key: 'created', title: say.created, cell: one => <Ago at={one.created_at} /> },
        { key: 'about', title: say.description, cell: one => visible(one.description) },
      ]}
    >
      {create && <create.Create onClose={() => setCreating(false)} />}
    </ListPage>
  )
}
