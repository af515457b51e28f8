import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { Button } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { State } from '../../design/state.tsx'
import { Ago } from '../../design/time.tsx'
import { usePart } from '../../design/use-part.ts'
import { reading } from '../../session/api.ts'
import { ShownPage } from '../../shell/shown-page.tsx'
import { useWords } from '../../words/words.ts'
import { Files } from './files.tsx'
import { type Detail, pathOf } from './paths.ts'
import { Runs } from './runs.tsx'
import { Snapshots } from './snapshots.tsx'
import { Used } from './used.tsx'
import { words } from './words.ts'

/** A volume: its files, the jobs that use it, and the datasets made of it. */
export function Page() {
  const { volume_id = '' } = useParams({ strict: false })
  const found = useQuery({
    ...reading<Detail>(pathOf({ volume_id })),
    refetchInterval: ({ state: { data } }) => (isBusy(data) ? 1000 : 10_000),
  })
  return <ShownPage of={found}>{one => <Found volume={one} />}</ShownPage>
}

const isBusy = (volume: Detail | undefined) =>
  volume?.snapshots.some(({ state }) => state === 'running') ?? false

const loadChange = () => import('./change.tsx')
const loadDelete = () => import('./delete.tsx')

function Found({ volume }: { volume: Detail }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const { path: inside = '' } = useSearch({ strict: false })
  const [opened, setOpened] = useState<'grow' | 'snapshot' | 'delete' | null>(null)
  const change = usePart(opened === 'grow' || opened === 'snapshot' ? loadChange : null)
  const remove = usePart(opened === 'delete' ? loadDelete : null)
  const close = () => setOpened(null)
  const open = (next: string) =>
    void navigate({
      to: '/volumes/$volume_id',
      params: { volume_id: volume.volume_id },
      search: next === '' ? {} : { path: next },
    })
  return (
    <div className={layout.sheet}>
      <header className={layout.head}>
        <h1>{volume.name}</h1>
        <div className={layout.row}>
          <Button onClick={() => setOpened('delete')}>{say.remove}</Button>
          <Button onClick={() => setOpened('grow')}>{say.grow}</Button>
          <Button kind="main" onClick={() => setOpened('snapshot')}>
            {say.snapshot}
          </Button>
        </div>
      </header>
      <Facts of={volume} />
      <Files of={volume} inside={String(inside)} onOpen={open} />
      <Runs of={volume} />
      <Snapshots of={volume} />
      {change && opened === 'grow' && <change.Grow volume={volume} onClose={close} />}
      {change && opened === 'snapshot' && (
        <change.Snapshot volume={volume} inside={String(inside)} onClose={close} />
      )}
      {remove && <remove.Delete volume={volume} onClose={close} />}
    </div>
  )
}

function Facts({ of }: { of: Detail }) {
  const say = useWords(words)
  const { state, owner, backend, last_used_at, cleanup_at, read_only } = of
  const facts: [string, ReactNode][] = [
    [say.owner, owner],
    [say.backend, backend],
    [say.lastUsed, <Ago key="used" at={last_used_at} />],
    ...(cleanup_at === null
      ? []
      : [[say.emptied, <Ago key="emptied" at={cleanup_at} />] satisfies [string, ReactNode]]),
  ]
  return (
    <div className={layout.facts}>
      <State state={state} />
      <Used of={of} />
      {read_only && <span>{say.readOnly}</span>}
      {facts.map(([title, value]) => (
        <span key={title}>
          {title}: {value}
        </span>
      ))}
    </div>
  )
}
