import { Link } from '@tanstack/react-router'
import { parseDatasetReference } from '../../../../../schemas/datasets/reference.ts'
import layout from '../../design/layout.module.css'
import { State } from '../../design/state.tsx'
import { TablePanel } from '../../design/table-panel.tsx'
import { usePages } from '../../session/use-pages.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import type { Use } from './paths.ts'
import { words } from './words.ts'

/** Runs that used a version, and versions made from it. */
export function Uses({ path }: { path: string }) {
  const say = useWords(words)
  const uses = usePages<Use>(`${path}/used-by`, { size: 50, keyOf: one => one.type + one.id })
  return (
    <TablePanel
      title={say.uses}
      of={uses}
      none={<p className={layout.soft}>{say.noUses}</p>}
      keyOf={one => one.type + one.id}
      columns={[
        { key: 'name', title: say.name, cell: one => <UserLink of={one} /> },
        { key: 'kind', title: say.kind, cell: one => say[one.type] },
        { key: 'state', title: say.state, cell: one => <State state={one.state} /> },
        { key: 'owner', title: say.owner, cell: one => one.owner },
      ]}
    />
  )
}

type UserProps = { of: { type: Use['type']; id: string; name?: string | null } }

/** A run or version that names a version. */
export function UserLink({ of: { type, id, name } }: UserProps) {
  const reference = type === 'dataset' ? parseDatasetReference(id) : null
  if (reference === null)
    return (
      <Link to="/runs/$run_id" params={{ run_id: id }} title={id}>
        {visible(name ?? id)}
      </Link>
    )
  return (
    <Link
      to="/datasets/$owner/$name"
      params={{ owner: reference.owner, name: reference.name }}
      search={{ version: String(reference.version) }}
    >
      {id}
    </Link>
  )
}
