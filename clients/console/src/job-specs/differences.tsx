import layout from '../design/layout.module.css'
import { Panel } from '../design/panel.tsx'
import { Table } from '../design/table.tsx'
import { useWords } from '../words/words.ts'
import { changesBetween } from './changes.ts'
import type { Tree } from './tree.ts'
import { words } from './words.ts'

/** How a job differs from a run; `part` names the job on a page with several. */
type Props = { run: string; before: Tree; now: Tree; part?: string }

export function Differences({ run, before, now, part }: Props) {
  const say = useWords(words)
  const changes = changesBetween(before, now)
  const title = part === undefined ? say.changes(run) : `${part}: ${say.changes(run)}`
  return (
    <Panel title={title}>
      {changes.length === 0 ? (
        <p className={layout.soft}>{say.same}</p>
      ) : (
        <Table
          caption={title}
          rows={changes}
          keyOf={({ path }) => path}
          columns={[
            { key: 'path', title: say.path, cell: one => one.path },
            { key: 'before', title: say.before, cell: one => <code>{one.from ?? '–'}</code> },
            { key: 'after', title: say.after, cell: one => <code>{one.to ?? '–'}</code> },
          ]}
        />
      )}
    </Panel>
  )
}
