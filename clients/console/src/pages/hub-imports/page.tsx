import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { HubImportRow, ModelHub } from '../../../../../schemas/hub-imports.ts'
import { Ask } from '../../design/ask.tsx'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { More } from '../../design/more.tsx'
import { NameField } from '../../design/name-field.tsx'
import { Empty } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { State } from '../../design/state.tsx'
import type { Column } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { LineagePanel } from '../../lineage/lineage.tsx'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { usePages } from '../../session/use-pages.ts'
import { bytesOf } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { Pushes } from './pushes.tsx'
import { words } from './words.ts'

const path = '/api/hub-imports'
const isUnderWay = ({ state }: HubImportRow) => state === 'resolving' || state === 'downloading'

/** The models that one imports from the hub, with their progress. */
export function Page() {
  const say = useWords(words)
  const [removed, setRemoved] = useState<HubImportRow | null>(null)
  const [traced, setTraced] = useState<HubImportRow | null>(null)
  const hub = useQuery(reading<ModelHub>('/api/model-hub'))
  const isOff = hub.data?.endpoint === null
  const found = usePages<HubImportRow>(path, {
    ...{ size: 100, keyOf: one => one.import_id },
  })
  const again = useThrottled(() => reread(path), 500)
  useLive('hub-imports', { onEvent: again, onGap: again })
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>{say.title}</h1>
      </header>
      <Panel title={say.start}>
        <p>{say.about}</p>
        {isOff ? <Empty text={say.noHub} /> : <Import />}
      </Panel>
      <QueryTable
        of={found}
        none={!isOff && <Empty text={say.none} command="forge hub import hub:Qwen/Qwen3-8B" />}
        caption={say.title}
        keyOf={one => one.import_id}
        columns={columnsOf(say, { onRemove: setRemoved, onTrace: setTraced })}
      />
      <More of={found} />
      {traced && (
        <LineagePanel path={`hub-imports/${traced.import_id}`}>
          <p>{traced.ref}</p>
        </LineagePanel>
      )}
      <Pushes isOff={isOff} />
      {removed && <Removal of={removed} onClose={() => setRemoved(null)} />}
    </div>
  )
}

function Import() {
  const say = useWords(words)
  const [ref, setRef] = useState('')
  const { submitting, error, isBusy } = useAct()
  const send = async () => {
    await begin(ref.trim())
    setRef('')
  }
  return (
    <form onSubmit={submitting(send)}>
      <NameField
        label={say.reference}
        hint={say.hint}
        value={ref}
        required
        maxLength={384}
        placeholder="hub:Qwen/Qwen3-8B"
        onChange={event => setRef(event.target.value)}
      />
      <FormEnd {...{ error, isBusy }} text={say.start} />
    </form>
  )
}

async function begin(ref: string): Promise<void> {
  await request('POST', path, { body: { ref: ref.startsWith('hub:') ? ref : `hub:${ref}` } })
  await reread(path)
}

type Say = (typeof words)['en']

type On = { onRemove: (one: HubImportRow) => void; onTrace: (one: HubImportRow) => void }

const columnsOf = (say: Say, on: On): Column<HubImportRow>[] => [
  {
    key: 'model',
    title: say.reference,
    cell: one => (
      <span className={styles.model} title={one.ref}>
        {one.repo}
      </span>
    ),
  },
  { key: 'commit', title: say.commit, cell: one => <code>{one.commit.slice(0, 12)}</code> },
  { key: 'state', title: say.state, cell: one => <StateOf of={one} /> },
  { key: 'done', title: say.done, cell: one => <Progress of={one} /> },
  {
    key: 'license',
    title: say.license,
    cell: ({ license, gated }) => [license, gated && say.gated].filter(Boolean).join(', '),
  },
  { key: 'files', title: say.files, isNumber: true, cell: one => one.file_count },
  { key: 'by', title: say.by, cell: one => one.owner },
  { key: 'created', title: say.created, cell: one => <Ago at={one.created_at} /> },
  { key: 'acts', title: '', cell: one => <Acts of={one} {...on} /> },
]

/** Only this page knows the first two states. */
function StateOf({ of: { state } }: { of: HubImportRow }) {
  const say = useWords(words)
  if (state === 'ready' || state === 'failed') return <State state={state} />
  return (
    <Badge tone="active" state={state}>
      {say[state]}
    </Badge>
  )
}

function Progress({ of: { ref, state, bytes, bytes_done, error } }: { of: HubImportRow }) {
  const say = useWords(words)
  if (error !== null) return <span className={styles.error}>{error}</span>
  if (bytes === null) return null
  if (state === 'ready') return bytesOf(bytes)
  return (
    <span className={styles.progress}>
      <progress aria-label={ref} max={Math.max(bytes, 1)} value={bytes_done} />
      {say.of(bytesOf(bytes_done), bytesOf(bytes))}
    </span>
  )
}

function Acts({ of, onRemove, onTrace }: { of: HubImportRow } & On) {
  const say = useWords(words)
  const { act, isBusy } = useAct()
  const ends = isUnderWay(of)
  return (
    <>
      {of.state === 'failed' && (
        <Button
          kind="quiet"
          busy={isBusy}
          aria-label={say.againOne(of.ref)}
          onClick={() => void act(() => begin(of.ref))}
        >
          {say.again}
        </Button>
      )}
      {of.state === 'ready' && (
        <Button kind="quiet" aria-label={say.usesOf(of.ref)} onClick={() => onTrace(of)}>
          {say.uses}
        </Button>
      )}
      <Button
        kind="quiet"
        aria-label={ends ? say.cancelOne(of.ref) : say.removeOne(of.ref)}
        onClick={() => onRemove(of)}
      >
        {ends ? say.cancel : say.remove}
      </Button>
    </>
  )
}

function Removal({ of, onClose }: { of: HubImportRow; onClose: () => void }) {
  const say = useWords(words)
  const { act, error, isBusy: busy } = useAct()
  const ends = isUnderWay(of)
  const remove = async () => {
    await request('DELETE', `${path}/${encodeURIComponent(of.import_id)}`)
    onClose()
    await reread(path)
  }
  return (
    <Ask
      title={ends ? say.cancelOne(of.ref) : say.removeOne(of.ref)}
      text={ends ? say.cancel : say.remove}
      isDangerous
      {...{ busy, error, onClose }}
      onYes={() => void act(remove)}
    >
      <p>{say.effect}</p>
    </Ask>
  )
}
