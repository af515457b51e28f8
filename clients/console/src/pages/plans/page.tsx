import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ListPage } from '../../design/list-page.tsx'
import { Empty } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { path, type Row } from './paths.ts'
import { StateOf } from './state-of.tsx'
import { words } from './words.ts'

/** The plans of readable projects. */
export function Page() {
  const say = useWords(words)
  const found = useQuery({ ...reading<Row[]>(path, { limit: 200 }), refetchInterval: 5000 })
  return (
    <ListPage
      title={say.title}
      about={say.about}
      of={found}
      none={<Empty text={say.none} command="forge plan -f job.yaml --save" />}
      keyOf={one => one.plan_id}
      columns={[
        {
          key: 'name',
          title: say.name,
          cell: ({ plan_id, name }) => (
            <Link to="/plans/$plan_id" params={{ plan_id }}>
              {visible(name)}
            </Link>
          ),
        },
        { key: 'project', title: say.project, cell: one => one.project },
        { key: 'state', title: say.state, cell: one => <StateOf state={one.state} /> },
        { key: 'stages', title: say.stages, cell: one => doneOf(one) },
        {
          key: 'cost',
          title: say.cost,
          isNumber: true,
          cell: ({ estimate }) => estimate && `${estimate.cost} ${estimate.currency}`,
        },
        { key: 'owner', title: say.owner, cell: one => one.owner },
        { key: 'updated', title: say.updated, cell: one => <Ago at={one.updated_at} /> },
      ]}
    />
  )
}

const doneOf = ({ stages }: Row) =>
  `${stages.filter(({ state }) => state === 'succeeded').length} / ${stages.length}`
