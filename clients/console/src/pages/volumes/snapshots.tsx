import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { DatasetLink } from './dataset-link.tsx'
import styles from './page.module.css'
import type { Detail } from './paths.ts'
import { words } from './words.ts'

export function Snapshots({ of: { snapshots } }: { of: Detail }) {
  const say = useWords(words)
  if (snapshots.length === 0) return null
  return (
    <Panel title={say.snapshots}>
      <Table
        caption={say.snapshots}
        rows={snapshots}
        keyOf={one => one.snapshot_id}
        columns={[
          {
            key: 'result',
            title: say.result,
            cell: one =>
              one.error === null ? (
                <DatasetLink named={one.ref ?? one.dataset} isThere={one.ref !== null} />
              ) : (
                <span className={styles.name}>{visible(one.error)}</span>
              ),
          },
          { key: 'state', title: say.state, cell: one => <State state={one.state} /> },
          { key: 'path', title: say.path, cell: one => <code>{visible(one.path) || '/'}</code> },
          { key: 'by', title: say.by, cell: one => one.requested_by },
          { key: 'at', title: say.requested, cell: one => <Ago at={one.requested_at} /> },
        ]}
      />
    </Panel>
  )
}
