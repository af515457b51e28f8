import { useQuery } from '@tanstack/react-query'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { OverridingReason } from '../../shell/gated-reason.tsx'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Deployment, type Promotion, pathOf } from './paths.ts'
import { words } from './words.ts'

/** Who moved the pointer, when and why. */
export function History({ deployment }: { deployment: Deployment }) {
  const say = useWords(words)
  const moves = useQuery(
    reading<Promotion[]>(`${pathOf(deployment.deployment_id)}/promotions`, { limit: 50 }),
  )
  return (
    <Panel title={say.history}>
      <QueryTable
        of={moves}
        none={<p className={styles.soft}>{say.noHistory}</p>}
        caption={say.history}
        keyOf={one => `${one.at} ${one.revision_id}`}
        columns={[
          { key: 'at', title: say.when, cell: one => <Ago at={one.at} /> },
          {
            key: 'what',
            title: say.what,
            cell: one =>
              `${say.revision(one.number)} ${one.kind === 'promoted' ? say.promoted : say.rolledBack}`,
          },
          { key: 'by', title: say.by, cell: one => one.actor },
          {
            key: 'reason',
            title: say.reason,
            cell: one => <OverridingReason of={one} />,
          },
          {
            key: 'diff',
            title: say.changed,
            cell: one => one.diff.map(({ field }) => field).join(', '),
          },
        ]}
      />
    </Panel>
  )
}
