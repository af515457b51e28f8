import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ApprovalRow } from '../../../../../schemas/approvals.ts'
import { Panel } from '../../design/panel.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords, wordsOf } from '../../words/words.ts'
import styles from './page.module.css'

const words = wordsOf({
  title: ['Waiting for your approval', '等待您审批'],
  all: ['All', '全部'],
})

/** What waits for this person; nothing while that is nothing. */
export function Approvals() {
  const say = useWords(words)
  const { data = [] } = useQuery(
    reading<ApprovalRow[]>('/api/approvals', { view: 'for_me', limit: 8 }),
  )
  if (data.length === 0) return null
  return (
    <Panel title={say.title} actions={<Link to="/approvals">{say.all}</Link>}>
      <ul className={styles.list}>
        {data.map(({ approval_id, title, requested_by, requested_at }) => (
          <li key={approval_id}>
            <Link to="/approvals/$approval_id" params={{ approval_id }} className={styles.run}>
              {visible(title)}
            </Link>
            <span>{requested_by}</span>
            <span className={styles.soft}>
              <Ago at={requested_at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
