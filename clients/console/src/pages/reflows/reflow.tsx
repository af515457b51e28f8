import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Ask } from '../../design/ask.tsx'
import { Button } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { usePart } from '../../design/use-part.ts'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { ShownPage } from '../../shell/shown-page.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Detail, path, pathOf, placeOf, scrubbed } from './paths.ts'
import { PreviewPanel } from './preview.tsx'
import { StateOf } from './state-of.tsx'
import { words } from './words.ts'

/** A reflow: its rule, a preview of the next firing, and the versions so far. */
export function Page() {
  const { reflow_id = '' } = useParams({ strict: false })
  const [isRunning, setRunning] = useState(false)
  const found = useQuery({
    ...reading<Detail>(pathOf(reflow_id)),
    refetchInterval: isRunning && 1000,
  })
  const runs = found.data?.state === 'running'
  if (runs !== isRunning) setRunning(runs)
  return <ShownPage of={found}>{reflow => <Found reflow={reflow} />}</ShownPage>
}

const Found = ({ reflow }: { reflow: Detail }) => (
  <div className={styles.page}>
    <Head reflow={reflow} />
    <Facts reflow={reflow} />
    {/* Every firing changes the preview. */}
    <PreviewPanel key={`${reflow.reflow_id} ${reflow.firings}`} reflow_id={reflow.reflow_id} />
    <Fired reflow={reflow} />
  </div>
)

const loadErase = () => import('./erase-dialog.tsx')

function Head({ reflow }: { reflow: Detail }) {
  const say = useWords(words)
  const [opened, setOpened] = useState<'erase' | 'remove' | null>(null)
  const dialog = usePart(opened === 'erase' ? loadErase : null)
  const { act, error, isBusy } = useAct()
  const { reflow_id, name, state, source } = reflow
  const close = () => setOpened(null)
  const fire = () =>
    act(async () => {
      await request('POST', `${pathOf(reflow_id)}/run`, { body: {} })
      await reread(path)
    })
  return (
    <>
      <header className={layout.head}>
        <h1>{visible(name)}</h1>
        <div className={layout.row}>
          <Button isDangerous onClick={() => setOpened('remove')}>
            {say.remove}
          </Button>
          {source.deployment_id !== null && (
            <Button onClick={() => setOpened('erase')}>{say.erase}</Button>
          )}
          <Button kind="main" busy={isBusy || state === 'running'} onClick={() => void fire()}>
            {say.run}
          </Button>
        </div>
      </header>
      <Failure error={error} />
      {source.deployment_id !== null && dialog && opened === 'erase' && (
        <dialog.EraseDialog deployment_id={source.deployment_id} onClose={close} />
      )}
      {opened === 'remove' && <Removal reflow={reflow} onClose={close} />}
    </>
  )
}

function Removal({
  reflow: { reflow_id, name },
  onClose,
}: {
  reflow: Detail
  onClose: () => void
}) {
  const say = useWords(words)
  const navigate = useNavigate()
  const { act, error, isBusy: busy } = useAct()
  const remove = async () => {
    await request('DELETE', pathOf(reflow_id))
    await navigate({ to: '/reflows' })
    await reread(path)
  }
  return (
    <Ask
      title={say.removeOf(name)}
      text={say.remove}
      isDangerous
      {...{ busy, error, onClose }}
      onYes={() => void act(remove)}
    >
      <p>{say.removeEffect}</p>
    </Ask>
  )
}

function Facts({ reflow }: { reflow: Detail }) {
  const say = useWords(words)
  const { source, state, filter, dedupe, scrub, sample_rate, rubric, last_version } = reflow
  const kinds = scrubbed.filter(kind => scrub.includes(kind)).map(kind => say[kind])
  return (
    <p className={styles.facts}>
      <StateOf state={state} />
      <span>
        {say.source}: <SourceOf of={source} />
      </span>
      <span>
        {say.dataset}:{' '}
        {last_version === null ? (
          reflow.target_dataset
        ) : (
          <Link {...placeOf(last_version)}>{last_version}</Link>
        )}
      </span>
      {filter !== '' && (
        <span>
          {say.filter}: <code>{visible(filter)}</code>
        </span>
      )}
      {sample_rate < 1 && (
        <span>
          {say.rate}: {Math.round(sample_rate * 10_000) / 100}
        </span>
      )}
      <span>
        {say.dedupe}: {dedupe === 'none' ? say.keepAll : say[dedupe]}
      </span>
      <span>
        {say.scrubbed}: {kinds.join(', ') || say.nothing}
      </span>
      {rubric !== null && (
        <span>
          {say.rubric}: {say.atLeast(rubric.ref, rubric.min_score)}
        </span>
      )}
      <span>
        {say.owner}: {reflow.owner}
      </span>
    </p>
  )
}

function SourceOf({ of: { type, deployment_id, run_id, queue_id } }: { of: Detail['source'] }) {
  const say = useWords(words)
  if (deployment_id !== null)
    return (
      <Link to="/deployments/$deployment_id" params={{ deployment_id }}>
        {say[type]}
      </Link>
    )
  if (run_id !== null)
    return (
      <Link to="/runs/$run_id/$tab" params={{ run_id, tab: 'samples' }}>
        {say[type]}
      </Link>
    )
  return (
    <Link to="/annotations/$queue_id" params={{ queue_id: queue_id ?? '' }}>
      {say[type]}
    </Link>
  )
}

function Fired({ reflow: { fired } }: { reflow: Detail }) {
  const say = useWords(words)
  return (
    <Panel title={say.versions}>
      {fired.length === 0 ? (
        <p className={styles.soft}>{say.notFired}</p>
      ) : (
        <Table
          caption={say.versions}
          rows={fired}
          keyOf={one => String(one.firing)}
          columns={[
            { key: 'firing', title: say.number, isNumber: true, cell: one => one.firing },
            { key: 'window', title: say.window, cell: one => one.window && visible(one.window) },
            { key: 'state', title: say.state, cell: one => <StateOf state={one.state} /> },
            { key: 'seen', title: say.seen, isNumber: true, cell: one => one.counts?.seen },
            { key: 'taken', title: say.taken, isNumber: true, cell: one => one.counts?.taken },
            {
              key: 'version',
              title: say.version,
              cell: one =>
                one.ref === null ? one.reason : <Link {...placeOf(one.ref)}>{one.ref}</Link>,
            },
            { key: 'started', title: say.started, cell: one => <Ago at={one.started_at} /> },
          ]}
        />
      )}
    </Panel>
  )
}
