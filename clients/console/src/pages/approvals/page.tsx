import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Select } from '../../design/field.tsx'
import layout from '../../design/layout.module.css'
import { ListPage } from '../../design/list-page.tsx'
import { Empty } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { usePart } from '../../design/use-part.ts'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { path, type Row } from './paths.ts'
import { StateOf } from './state-of.tsx'
import { words } from './words.ts'

const views = ['for_me', 'by_me', 'all'] as const
const loadRequest = () => import('./request-dialog.tsx')

/** What waits for somebody's approval. */
export function Page() {
  const say = useWords(words)
  const language = useLanguage()
  const [view, setView] = useState<(typeof views)[number]>('for_me')
  const [isAsking, setAsking] = useState(false)
  const dialog = usePart(isAsking ? loadRequest : null)
  const found = useQuery(reading<Row[]>(path, { view, limit: 500 }))
  return (
    <ListPage
      title={say.title}
      actions={
        <div className={layout.controls}>
          <Select
            label={say.view}
            value={view}
            choices={views.map(value => ({ value, text: say[value] }))}
            onChange={setView}
          />
          <Button onClick={() => setAsking(true)}>{say.request}</Button>
        </div>
      }
      about={say.about}
      of={found}
      none={<Empty text={say.none} />}
      keyOf={one => one.approval_id}
      columns={[
        {
          key: 'what',
          title: say.what,
          cell: ({ approval_id, title }) => (
            <Link to="/approvals/$approval_id" params={{ approval_id }}>
              {visible(title)}
            </Link>
          ),
        },
        { key: 'by', title: say.by, cell: one => one.requested_by },
        { key: 'rule', title: say.rule, cell: one => one.rule },
        { key: 'state', title: say.state, cell: one => <StateOf state={one.state} /> },
        { key: 'asked', title: say.asked, cell: one => <Ago at={one.requested_at} /> },
        {
          key: 'expires',
          title: say.expires,
          cell: one => new Date(one.expires_at).toLocaleString(language),
        },
      ]}
    >
      {dialog && isAsking && <dialog.RequestDialog onClose={() => setAsking(false)} />}
    </ListPage>
  )
}
