import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { ListPage } from '../../design/list-page.tsx'
import { More } from '../../design/more.tsx'
import { Empty } from '../../design/notice.tsx'
import { State } from '../../design/state.tsx'
import type { Column } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { usePart } from '../../design/use-part.ts'
import { usePages } from '../../session/use-pages.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { list, type Volume } from './paths.ts'
import { Used } from './used.tsx'
import { words } from './words.ts'

const loadCreate = () => import('./create.tsx')

/** One's own volumes. */
export function Page() {
  const say = useWords(words)
  const [isCreating, setCreating] = useState(false)
  const create = usePart(isCreating ? loadCreate : null)
  const found = usePages<Volume>(list, {
    ...{ query: {}, size: 100, everyMs: 10_000 },
    keyOf: one => one.volume_id,
  })
  return (
    <ListPage
      title={say.title}
      actions={
        <Button kind="main" onClick={() => setCreating(true)}>
          {say.create}
        </Button>
      }
      about={say.about}
      of={found}
      none={<Empty text={say.none} command="forge volume create hub-cache --size-gb 100" />}
      keyOf={one => one.volume_id}
      columns={columnsOf(say)}
    >
      <More of={found} />
      {create && <create.Create onClose={() => setCreating(false)} />}
    </ListPage>
  )
}

const columnsOf = (say: (typeof words)['en']): Column<Volume>[] => [
  {
    key: 'name',
    title: say.volume,
    cell: ({ volume_id, name }) => (
      <Link to="/volumes/$volume_id" params={{ volume_id }} className={styles.name}>
        {name}
      </Link>
    ),
  },
  { key: 'state', title: say.state, cell: one => <State state={one.state} /> },
  { key: 'used', title: say.used, cell: one => <Used of={one} /> },
  {
    key: 'runs',
    title: say.runs,
    cell: one => one.attached_to.map(({ short_id }) => short_id).join(', '),
  },
  { key: 'backend', title: say.backend, cell: one => one.backend },
  { key: 'owner', title: say.owner, cell: one => one.owner },
  { key: 'last', title: say.lastUsed, cell: one => <Ago at={one.last_used_at} /> },
]
