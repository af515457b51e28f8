import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { usePart } from '../../design/use-part.ts'
import { reading } from '../../session/api.ts'
import { usePages } from '../../session/use-pages.ts'
import { ShownPage } from '../../shell/shown-page.tsx'
import { UseFromPython } from '../../shell/use-from-python.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import type { Ahead } from '../slice.ts'
import { Card } from './card.tsx'
import { Grants } from './grants.tsx'
import { type Detail, type Named, pathOf, type Version } from './paths.ts'
import { ShownVersion } from './version.tsx'
import { Versions } from './versions.tsx'
import { words } from './words.ts'

const readingDataset = (of: Named) => reading<Detail>(pathOf(of))
export const ahead: Ahead = ({ params: { owner = '', name = '' } }) => [
  readingDataset({ owner, name }),
]

/** A dataset, and its newest version or the one in the address. */
export function Page() {
  const { owner = '', name = '' } = useParams({ strict: false })
  const found = useQuery(readingDataset({ owner, name }))
  return <ShownPage of={found}>{one => <Found dataset={one} />}</ShownPage>
}

function Found({ dataset }: { dataset: Detail }) {
  const say = useWords(words)
  const { version: asked, same } = useSearch({ strict: false })
  const versions = usePages<Version>(`${pathOf(dataset)}/versions`, {
    size: 50,
    keyOf: one => one.version,
    isUnderWay: ({ state }) => state === 'validating',
  })
  const newest = versions.data?.[0]?.version
  const shown = asked === undefined ? newest : Number(asked)
  return (
    <div className={layout.sheet}>
      <Head dataset={dataset} />
      {same !== undefined && <p role="status">{say.sameFiles}</p>}
      <Versions of={versions} dataset={dataset} shown={shown} />
      {shown !== undefined &&
        (Number.isSafeInteger(shown) && shown > 0 ? (
          <ShownVersion key={shown} dataset={dataset} version={shown} />
        ) : (
          <p role="alert">{say.noSuchVersion(visible(String(asked)))}</p>
        ))}
      <Card dataset={dataset} />
      {shown !== undefined && shown > 0 && dataset.may !== 'see' && (
        <UseFromPython repo={{ type: 'dataset', id: dataset.dataset, version: shown }} />
      )}
      {dataset.may === 'write' && <Grants dataset={dataset} />}
    </div>
  )
}

const loadUpload = () => import('./upload-dialog.tsx')
const loadSettings = () => import('./settings.tsx')

function Head({ dataset }: { dataset: Detail }) {
  const say = useWords(words)
  const [opened, setOpened] = useState<'upload' | 'settings' | null>(null)
  const upload = usePart(opened === 'upload' ? loadUpload : null)
  const settings = usePart(opened === 'settings' ? loadSettings : null)
  const close = () => setOpened(null)
  const { owner, name, visibility, use, license, may } = dataset
  const access = { see: say.maySee, use: say.mayUse, write: say.mayWrite }[may]
  const facts: [string, string][] = [
    [say.access, access],
    [say.visibility, say[visibility]],
    ...(visibility === 'public'
      ? [
          [say.usableBy, use === 'everybody' ? say.everybodyUses : say.grantedUse] satisfies [
            string,
            string,
          ],
        ]
      : []),
    [say.license, license === null ? say.noLicense : visible(license)],
  ]
  return (
    <>
      <header className={layout.head}>
        <h1>
          {owner}/{name}
        </h1>
        {may === 'write' && (
          <div className={layout.row}>
            <Button onClick={() => setOpened('settings')}>{say.settings}</Button>
            <Button kind="main" onClick={() => setOpened('upload')}>
              {say.push}
            </Button>
          </div>
        )}
      </header>
      <p className={layout.facts}>
        {facts.map(([title, value]) => (
          <span key={title}>
            {title}: {value}
          </span>
        ))}
      </p>
      {upload && <upload.UploadDialog {...{ owner, name }} onClose={close} />}
      {settings && <settings.Settings dataset={dataset} onClose={close} />}
    </>
  )
}
