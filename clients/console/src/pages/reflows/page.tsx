import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { ListPage } from '../../design/list-page.tsx'
import { Empty } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { usePart } from '../../design/use-part.ts'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { path, placeOf, type Row } from './paths.ts'
import { StateOf } from './state-of.tsx'
import { words } from './words.ts'

const loadCreate = () => import('./create-dialog.tsx')

/** One's reflows. */
export function Page() {
  const say = useWords(words)
  const [isNew, setNew] = useState(false)
  const dialog = usePart(isNew ? loadCreate : null)
  const found = useQuery(reading<Row[]>(path, { limit: 500 }))
  return (
    <ListPage
      title={say.title}
      actions={
        <Button kind="main" onClick={() => setNew(true)}>
          {say.new}
        </Button>
      }
      about={say.about}
      of={found}
      none={<Empty text={say.none} command="forge reflow create NAME me/traffic -d DEPLOYMENT" />}
      keyOf={one => one.reflow_id}
      columns={[
        {
          key: 'name',
          title: say.name,
          cell: ({ reflow_id, name }) => (
            <Link to="/reflows/$reflow_id" params={{ reflow_id }}>
              {visible(name)}
            </Link>
          ),
        },
        { key: 'source', title: say.source, cell: one => say[one.source.type] },
        { key: 'dataset', title: say.dataset, cell: one => <DatasetOf of={one} /> },
        { key: 'state', title: say.state, cell: one => <StateOf state={one.state} /> },
        { key: 'fired', title: say.fired, isNumber: true, cell: one => one.firings },
        { key: 'owner', title: say.owner, cell: one => one.owner },
        { key: 'updated', title: say.updated, cell: one => <Ago at={one.updated_at} /> },
      ]}
    >
      {isNew && dialog && <dialog.CreateDialog onClose={() => setNew(false)} />}
    </ListPage>
  )
}

/** Before the first version there is nothing to show. */
const DatasetOf = ({ of: { last_version, target_dataset } }: { of: Row }) =>
  last_version === null ? target_dataset : <Link {...placeOf(last_version)}>{last_version}</Link>
