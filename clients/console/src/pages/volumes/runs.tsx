import { Link } from '@tanstack/react-router'
import layout from '../../design/layout.module.css'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import type { Detail } from './paths.ts'
import { words } from './words.ts'

export const RunLink = ({ of }: { of: { run_id: string; short_id: string } }) => (
  <Link to="/runs/$run_id" params={{ run_id: of.run_id }}>
    {of.short_id}
  </Link>
)

/** The jobs that name a volume and have not ended. */
export function Runs({ of: { attached_to } }: { of: Detail }) {
  const say = useWords(words)
  return (
    <Panel title={say.attached}>
      {attached_to.length === 0 ? (
        <p className={layout.soft}>{say.notAttached}</p>
      ) : (
        <Table
          caption={say.attached}
          rows={attached_to}
          keyOf={one => one.run_id + one.mount_path}
          columns={[
            { key: 'run', title: say.runs, cell: one => <RunLink of={one} /> },
            {
              key: 'access',
              title: say.access,
              cell: one => (one.read_only ? say.reads : say.writes),
            },
            {
              key: 'at',
              title: say.mountedAt,
              cell: one => <code>{visible(one.mount_path)}</code>,
            },
            { key: 'since', title: say.since, cell: one => <Ago at={one.since} /> },
          ]}
        />
      )}
    </Panel>
  )
}
