import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { Ask } from '../../design/ask.tsx'
import { Button } from '../../design/button.tsx'
import layout from '../../design/layout.module.css'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { reading, reread } from '../../session/api.ts'
import { ApiFailure } from '../../session/failure.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { ShownPage } from '../../shell/shown-page.tsx'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { Exactly } from './exactly.tsx'
import { Gates } from './gates.tsx'
import { Graph } from './graph.tsx'
import styles from './page.module.css'
import { type Detail, path, pathOf } from './paths.ts'
import { StateOf } from './state-of.tsx'
import { words } from './words.ts'

/** A plan: its stages with their progress, what the gates said, and what exactly runs. */
export function Page() {
  const { plan_id = '' } = useParams({ strict: false })
  const found = useQuery({ ...reading<Detail>(pathOf(plan_id)), refetchInterval: 2000 })
  return <ShownPage of={found}>{plan => <Found plan={plan} />}</ShownPage>
}

const Found = ({ plan }: { plan: Detail }) => (
  <div className={styles.page}>
    <Head plan={plan} />
    <Facts plan={plan} />
    <Graph plan={plan} />
    <Gates plan={plan} />
    <Exactly plan={plan} />
  </div>
)

type Moved = { digest: string; moved: Detail['moved'] }

function Head({ plan }: { plan: Detail }) {
  const say = useWords(words)
  const { plan_id, name, state } = plan
  const [isCancelling, setCancelling] = useState(false)
  const [moved, setMoved] = useState<Moved | null>(null)
  const { act, error, isBusy } = useAct()
  const submit = (accept: string | null) =>
    act(async () => {
      try {
        await request('POST', `${pathOf(plan_id)}/submit`, { body: { accept } })
        setMoved(null)
      } catch (fault) {
        const found = movedIn(fault)
        if (!found) throw fault
        setMoved(found)
      }
      await reread(path)
    })
  const mayCancel = ['draft', 'ready', 'submitted', 'blocked'].includes(state)
  return (
    <>
      <header className={layout.head}>
        <h1>{visible(name)}</h1>
        <div className={layout.row}>
          {mayCancel && (
            <Button isDangerous onClick={() => setCancelling(true)}>
              {say.cancel}
            </Button>
          )}
          {['draft', 'ready', 'blocked'].includes(state) && (
            <Button kind="main" busy={isBusy} onClick={() => void submit(moved?.digest ?? null)}>
              {say[submitWord({ state, isMoved: moved !== null })]}
            </Button>
          )}
        </div>
      </header>
      <Failure error={error} />
      <MovedList moved={moved?.moved ?? plan.moved} />
      {isCancelling && <Cancelling plan={plan} onClose={() => setCancelling(false)} />}
    </>
  )
}

const submitWord = ({ state, isMoved }: { state: string; isMoved: boolean }) => {
  if (isMoved) return 'accept'
  return state === 'blocked' ? 'goOn' : 'submit'
}

/** What a refused submit says has changed. */
function movedIn(fault: unknown): Moved | null {
  if (!(fault instanceof ApiFailure) || fault.code !== 'plan.moved') return null
  const { digest, moved } = (fault.body.data ?? {}) as Partial<Moved>
  return digest !== undefined && moved ? { digest, moved } : null
}

function MovedList({ moved }: { moved: Detail['moved'] }) {
  const say = useWords(words)
  if (moved.length === 0) return null
  return (
    <Panel title={say.moved}>
      <p className={styles.soft}>{say.movedHint}</p>
      <Table
        caption={say.moved}
        rows={moved}
        keyOf={one => `${one.stage} ${one.what} ${one.name}`}
        columns={[
          { key: 'stage', title: say.stage, cell: one => one.stage },
          { key: 'what', title: say.what, cell: one => `${say[one.what]} ${visible(one.name)}` },
          { key: 'from', title: say.from, cell: one => one.from ?? '–' },
          { key: 'to', title: say.to, cell: one => one.to ?? '–' },
        ]}
      />
    </Panel>
  )
}

function Cancelling({ plan, onClose }: { plan: Detail; onClose: () => void }) {
  const say = useWords(words)
  const { act, error, isBusy: busy } = useAct()
  const cancel = async () => {
    await request('POST', `${pathOf(plan.plan_id)}/cancel`)
    await reread(path)
    onClose()
  }
  return (
    <Ask
      title={say.cancelOf(plan.name)}
      text={say.cancel}
      isDangerous
      {...{ busy, error, onClose }}
      onYes={() => void act(cancel)}
    >
      <p>{say.cancelEffect}</p>
    </Ask>
  )
}

function Facts({ plan }: { plan: Detail }) {
  const say = useWords(words)
  const language = useLanguage()
  const { state, reason, project, owner, submitted_by, expires_at, estimate, digest } = plan
  const isWaiting = state === 'draft' || state === 'ready'
  return (
    <>
      <p className={layout.facts}>
        <StateOf state={state} />
        <span>
          {say.project}: {project}
        </span>
        <span>
          {say.owner}: {owner}
        </span>
        {submitted_by !== null && (
          <span>
            {say.submittedBy}: {submitted_by}
          </span>
        )}
        {estimate && (
          <span>
            {say.cost}: {estimate.gpu_hours} GPU h, {estimate.cost} {estimate.currency}
          </span>
        )}
        {isWaiting && (
          <span>
            {say.expires}: {new Date(expires_at).toLocaleString(language)}
          </span>
        )}
        <span>
          {say.digest}: <code>{digest.slice(0, 19)}</code>
        </span>
      </p>
      {reason !== null && <p role="status">{visible(reason)}</p>}
    </>
  )
}
