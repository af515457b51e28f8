import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { usePart } from '../../design/use-part.ts'
import { LineagePanel } from '../../lineage/lineage.tsx'
import { reading } from '../../session/api.ts'
import { whileUnderWay } from '../../session/use-pages.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { Content } from './content.tsx'
import { Errors } from './errors.tsx'
import { Files } from './files.tsx'
import { Findings } from './findings.tsx'
import { type Detail, pathOfVersion, type VersionDetail } from './paths.ts'
import { Uses } from './uses.tsx'
import { words } from './words.ts'

type Props = { dataset: Detail; version: number }

/** What a version contains, and who uses it. */
export function ShownVersion({ dataset, version }: Props) {
  const found = useQuery({
    ...reading<VersionDetail>(pathOfVersion(dataset, version)),
    refetchInterval: ({ state: { data } }) => whileUnderWay(data?.state === 'validating'),
  })
  return <Shown of={found}>{one => <Parts dataset={dataset} version={one} />}</Shown>
}

type PartsProps = { dataset: Detail; version: VersionDetail }

function Parts({ dataset, version }: PartsProps) {
  const say = useWords(words)
  const { ref, state, deprecated_reason, volume } = version
  const path = pathOfVersion(dataset, version.version)
  const mayUse = dataset.may !== 'see'
  const isReadable = state === 'ready' || state === 'deprecated'
  return (
    <>
      <Panel title={ref} actions={<Actions {...{ dataset, version }} />}>
        <p>
          <State state={state} />
        </p>
        {volume !== null && (
          <p>
            {say.snapshotOf(volume.path)}{' '}
            <Link to="/volumes/$volume_id" params={{ volume_id: volume.volume_id }}>
              {volume.name}
            </Link>
          </p>
        )}
        {deprecated_reason !== null && <p>{say.deprecatedBecause(visible(deprecated_reason))}</p>}
        {state === 'validating' ? <p role="status">{say.validating}</p> : <Findings of={version} />}
      </Panel>
      {version.errors.length > 0 && <Errors of={version} />}
      {isReadable &&
        (mayUse ? (
          <Content dataset={dataset} path={path} />
        ) : (
          <Panel title={say.content}>
            <p>{say.notUsable(dataset.owner)}</p>
          </Panel>
        ))}
      <Files of={version} path={path} mayUse={mayUse} />
      <Uses path={path} />
      <LineagePanel path={path.slice('/api/'.length)} />
    </>
  )
}

const loadDeprecate = () => import('./deprecate.tsx')
const loadDelete = () => import('./delete.tsx')

function Actions({ dataset, version }: PartsProps) {
  const say = useWords(words)
  const [opened, setOpened] = useState<'deprecate' | 'delete' | null>(null)
  const deprecate = usePart(opened === 'deprecate' ? loadDeprecate : null)
  const removal = usePart(opened === 'delete' ? loadDelete : null)
  const close = () => setOpened(null)
  if (dataset.may !== 'write') return null
  return (
    <div className={layout.row}>
      {version.state === 'ready' && (
        <Button onClick={() => setOpened('deprecate')}>{say.deprecate}</Button>
      )}
      <Button isDangerous onClick={() => setOpened('delete')}>
        {say.delete}
      </Button>
      {deprecate && <deprecate.Deprecate {...{ dataset, version }} onClose={close} />}
      {removal && <removal.Delete {...{ dataset, version }} onClose={close} />}
    </div>
  )
}
