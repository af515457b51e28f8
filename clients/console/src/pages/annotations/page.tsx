import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { ListPage } from '../../design/list-page.tsx'
import { More } from '../../design/more.tsx'
import { Empty } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { usePart } from '../../design/use-part.ts'
import { usePages } from '../../session/use-pages.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { Row } from './paths.ts'
import { words } from './words.ts'

const loadNew = () => import('./new-dialog.tsx')

/** All queues of the projects that one may read. */
export function Page() {
  const say = useWords(words)
  const language = useLanguage()
  const [isMaking, setMaking] = useState(false)
  const dialog = usePart(isMaking ? loadNew : null)
  const queues = usePages<Row>('/api/annotations', { size: 50, keyOf: one => one.queue_id })
  return (
    <ListPage
      title={say.title}
      actions={
        <Button kind="main" onClick={() => setMaking(true)}>
          {say.new}
        </Button>
      }
      of={queues}
      none={<Empty text={say.none} command="forge annotate new NAME --project demo --run demo-1" />}
      keyOf={one => one.queue_id}
      columns={[
        {
          key: 'name',
          title: say.queue,
          cell: ({ queue_id, name }) => (
            <Link to="/annotations/$queue_id" params={{ queue_id }} className={styles.name}>
              {visible(name)}
            </Link>
          ),
        },
        { key: 'project', title: say.project, cell: one => one.project },
        { key: 'kind', title: say.kind, cell: one => say[one.kind] },
        { key: 'state', title: say.state, cell: one => say[one.state] },
        {
          key: 'progress',
          title: say.progress,
          cell: one =>
            say.completedOf(
              one.completed.toLocaleString(language),
              one.items.toLocaleString(language),
            ),
        },
        { key: 'answers', title: say.answers, isNumber: true, cell: one => one.answers },
        { key: 'owner', title: say.owner, cell: one => one.owner },
        { key: 'created', title: say.created, cell: one => <Ago at={one.created_at} /> },
      ]}
    >
      <More of={queues} />
      {isMaking && dialog && <dialog.NewDialog onClose={() => setMaking(false)} />}
    </ListPage>
  )
}
