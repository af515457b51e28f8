import type { ComponentProps, ReactNode } from 'react'
import { useWords, wordsOf } from '../words/words.ts'
import { Panel } from './panel.tsx'
import { QueryTable } from './query-table.tsx'
import { State } from './state.tsx'
import type { Column } from './table.tsx'
import { Ago } from './time.tsx'
import styles from './version-table.module.css'

const words = wordsOf({
  versions: ['Versions', '版本'],
  version: ['Version', '版本'],
  state: ['State', '状态'],
  by: ['By', '创建者'],
  created: ['Created', '创建于'],
})

type Versioned = { version: number | string; state: string; created_by: string; created_at: string }
/** The attributes of a link to a version. */
type Mark = { 'aria-current': 'true' | undefined; className: string | undefined; children: string }

type Props<V extends Versioned> = {
  of: ComponentProps<typeof QueryTable<V>>['of']
  none: string
  /** The version that the page is about. */
  shown: V['version'] | undefined
  link: (version: V['version'], mark: Mark) => ReactNode
  /** What versions of this kind have besides. */
  columns: readonly Column<V>[]
  /** The last columns, such as one of actions. */
  last?: readonly Column<V>[]
  /** Below the table. */
  children?: ReactNode
}

/** The versions of a thing, such as a model or a dataset. */
export function VersionTable<V extends Versioned>(props: Props<V>) {
  const { of, none, shown, link, columns, last = [], children } = props
  const say = useWords(words)
  const markOf = (version: V['version']): Mark => ({
    'aria-current': version === shown ? 'true' : undefined,
    className: version === shown ? styles.current : undefined,
    children: `${say.version} ${version}`,
  })
  return (
    <Panel title={say.versions}>
      <QueryTable<V>
        of={of}
        none={<p className={styles.soft}>{none}</p>}
        caption={say.versions}
        keyOf={one => String(one.version)}
        columns={[
          {
            key: 'version',
            title: say.version,
            cell: ({ version }) => link(version, markOf(version)),
          },
          { key: 'state', title: say.state, cell: one => <State state={one.state} /> },
          ...columns,
          { key: 'by', title: say.by, cell: one => one.created_by },
          { key: 'created', title: say.created, cell: one => <Ago at={one.created_at} /> },
          ...last,
        ]}
      />
      {children}
    </Panel>
  )
}
