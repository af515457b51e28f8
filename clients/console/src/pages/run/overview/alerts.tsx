import { Badge } from '../../../design/badge.tsx'
import { Panel } from '../../../design/panel.tsx'
import { Ago } from '../../../design/time.tsx'
import { visible } from '../../../words/visible.ts'
import { useWords } from '../../../words/words.ts'
import type { AlertGroup } from '../alert-groups.ts'
import { AlertText } from '../alert-text.tsx'
import { useAlerts } from '../use-alerts.ts'
import type { RunRecord } from '../use-run.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

/** The alerts of a run, one line for each kind. */
export function Alerts({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const { groups } = useAlerts(run)
  if (groups.length === 0) return null
  return (
    <Panel title={say.alerts}>
      <ul className={styles.list}>
        {groups.map(group => (
          <Line key={group.id} group={group} />
        ))}
      </ul>
    </Panel>
  )
}

function Line({ group }: { group: AlertGroup }) {
  const say = useWords(words)
  const { newest, open } = group
  return (
    <li>
      <Badge tone={open > 0 ? 'bad' : 'soft'}>{open > 0 ? say.open : say[newest.state]}</Badge>
      <span>
        <strong>
          <AlertText group={group} />
        </strong>{' '}
        {visible(newest.text)}
      </span>
      <Ago at={newest.fired_at} />
    </li>
  )
}
