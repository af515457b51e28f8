import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ModelVersion } from '../../../../../schemas/models.ts'
import { Badge } from '../../design/badge.tsx'
import { VersionTable } from '../../design/version-table.tsx'
import { bytesOf } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type Props = { model: string; versions: UseQueryResult<ModelVersion[]>; shown: number }

export function Versions({ model, versions, shown }: Props) {
  const say = useWords(words)
  return (
    <VersionTable
      of={versions}
      shown={shown}
      none={say.noVersions}
      link={(version, mark) => (
        <Link
          to="/models/$model"
          params={{ model }}
          search={{ version: String(version) }}
          {...mark}
        />
      )}
      columns={[
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
      ]}
      last={[
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
  )
}
