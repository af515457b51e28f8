import { Link } from '@tanstack/react-router'
import { More } from '../../design/more.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { State } from '../../design/state.tsx'
import { Ago } from '../../design/time.tsx'
import type { Pages } from '../../session/use-pages.ts'
import { bytesOf } from '../../words/amounts.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { Named, Version } from './paths.ts'
import { words } from './words.ts'

type Props = { of: Pages<Version>; dataset: Named; shown: number | undefined }

export function Versions({ of, dataset: { owner, name }, shown }: Props) {
  const say = useWords(words)
  const language = useLanguage()
  return (
    <Panel title={say.versions}>
      <QueryTable
        of={of}
        none={<p className={styles.soft}>{say.noVersions}</p>}
        caption={say.versions}
        keyOf={one => String(one.version)}
        columns={[
          {
            key: 'version',
            title: say.version,
            cell: ({ version }) => (
              <Link
                to="/datasets/$owner/$name"
                params={{ owner, name }}
                search={{ version: String(version) }}
                className={version === shown ? styles.current : undefined}
                aria-current={version === shown ? 'true' : undefined}
              >
                {say.version} {version}
              </Link>
            ),
          },
          { key: 'state', title: say.state, cell: one => <State state={one.state} /> },
          {
            key: 'rows',
            title: say.rows,
            isNumber: true,
            cell: one => one.rows?.toLocaleString(language),
          },
          {
            key: 'tokens',
            title: say.tokens,
            isNumber: true,
            cell: ({ tokens }) => Object.values(tokens)[0]?.toLocaleString(language),
          },
          { key: 'size', title: say.size, isNumber: true, cell: one => bytesOf(one.bytes) },
          {
            key: 'used',
            title: say.usedBy,
            cell: one => one.used_by_count > 0 && say.runs(one.used_by_count),
          },
          { key: 'by', title: say.by, cell: one => one.created_by },
          { key: 'created', title: say.created, cell: one => <Ago at={one.created_at} /> },
        ]}
      />
      <More of={of} what={say.versions} />
    </Panel>
  )
}
