import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ModelVersion } from '../../../../../schemas/models.ts'
import { Badge } from '../../design/badge.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { State } from '../../design/state.tsx'
import { Ago } from '../../design/time.tsx'
import { bytesOf } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type Props = { model: string; versions: UseQueryResult<ModelVersion[]>; shown: number }

export function Versions({ model, versions, shown }: Props) {
  const say = useWords(words)
  return (
    <Panel title={say.versions}>
      <QueryTable
        of={versions}
        none={<p className={styles.soft}>{say.noVersions}</p>}
        caption={say.versions}
        keyOf={one => String(one.version)}
        columns={[
          {
            key: 'version',
            title: say.version,
            cell: one => (
              <Link
                to="/models/$model"
                params={{ model }}
                search={{ version: String(one.version) }}
                aria-current={one.version === shown ? 'true' : undefined}
              >
                {say.version} {one.version}
              </Link>
            ),
          },
          { key: 'state', title: say.state, cell: one => <State state={one.state} /> },
          {
            key: 'aliases',
            title: say.aliases,
            cell: one => (
              <span className={styles.aliases}>
                {one.aliases.map(alias => (
                  <Badge key={alias}>{alias}</Badge>
                ))}
              </span>
            ),
          },
          { key: 'format', title: say.format, cell: one => one.format },
          {
            key: 'size',
            title: say.size,
            isNumber: true,
            cell: one => one.size_bytes !== null && bytesOf(one.size_bytes),
          },
          { key: 'by', title: say.by, cell: one => one.created_by },
          { key: 'created', title: say.created, cell: one => <Ago at={one.created_at} /> },
          {
            key: 'deploy',
            title: '',
            cell: one =>
              one.state === 'ready' && (
                <Link to="/deployments" search={{ new: `${model}@${one.version}` }}>
                  {say.deploy}
                </Link>
              ),
          },
        ]}
      />
    </Panel>
  )
}
