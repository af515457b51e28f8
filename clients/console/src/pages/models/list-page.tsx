import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Model } from '../../../../../schemas/models.ts'
import { Badge } from '../../design/badge.tsx'
import { ListPage } from '../../design/list-page.tsx'
import { Empty } from '../../design/notice.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const readingModels = reading<Model[]>('/api/models', { limit: 500 })
export const ahead = () => [readingModels]

export function Page() {
  const say = useWords(words)
  const models = useQuery(readingModels)
  return (
    <ListPage
      title={say.title}
      of={models}
      none={<Empty text={say.none} command="forge model register math-tutor art_… -p demo" />}
      keyOf={one => one.model}
      columns={[
        {
          key: 'model',
          title: say.model,
          cell: ({ model }) => (
            <Link to="/models/$model" params={{ model }}>
              {model}
            </Link>
          ),
        },
        { key: 'project', title: say.project, cell: one => one.project },
        { key: 'owner', title: say.owner, cell: one => one.owner },
        { key: 'newest', title: say.newest, isNumber: true, cell: one => one.newest_version },
        { key: 'aliases', title: say.aliases, cell: one => <Aliases model={one} /> },
        { key: 'updated', title: say.updated, cell: one => <Ago at={one.updated_at} /> },
      ]}
    />
  )
}

const Aliases = ({ model: { aliases } }: { model: Model }) => (
  <span className={styles.aliases}>
    {aliases.map(({ alias, version, is_protected }) => (
      <Badge key={alias} tone={is_protected ? 'good' : 'soft'}>
        {alias} → {version}
      </Badge>
    ))}
  </span>
)
