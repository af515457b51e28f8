import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import type { Model, ModelVersion } from '../../../../../schemas/models.ts'
import { LineagePanel } from '../../lineage/lineage.tsx'
import { reading } from '../../session/api.ts'
import { ShownPage } from '../../shell/shown-page.tsx'
import { UseFromPython } from '../../shell/use-from-python.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import type { Ahead } from '../slice.ts'
import { Aliases } from './aliases.tsx'
import { Lineage } from './lineage.tsx'
import styles from './page.module.css'
import { pathOfModel } from './path.ts'
import { Versions } from './versions.tsx'
import { words } from './words.ts'

const readingModel = (model: string) => reading<Model>(pathOfModel(model))
export const ahead: Ahead = ({ params: { model = '' } }) => [readingModel(model)]

export function Page() {
  const { model = '' } = useParams({ strict: false })
  const found = useQuery(readingModel(model))
  return <ShownPage of={found}>{one => <Found model={one} />}</ShownPage>
}

function Found({ model }: { model: Model }) {
  const say = useWords(words)
  const search = useSearch({ strict: false })
  const versions = useQuery(
    reading<ModelVersion[]>(`${pathOfModel(model.model)}/versions`, { limit: 100 }),
  )
  const shown = Number(search.version ?? model.newest_version ?? 0)
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{model.model}</h1>
        <p className={styles.soft}>
          {say.project} {model.project} · {say.owner} {model.owner}
        </p>
      </header>
      {model.description !== '' && <p>{visible(model.description)}</p>}
      <Aliases model={model} />
      <Versions model={model.model} versions={versions} shown={shown} />
      {shown > 0 && (
        <>
          <Lineage model={model.model} version={shown} />
          <LineagePanel
            path={`${pathOfModel(model.model).slice('/api/'.length)}/versions/${shown}`}
          />
          <UseFromPython repo={{ type: 'model', id: model.model, version: shown }} />
        </>
      )}
    </div>
  )
}
