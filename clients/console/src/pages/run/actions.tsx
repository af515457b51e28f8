import { useNavigate } from '@tanstack/react-router'
import Ellipsis from 'lucide-react/icons/ellipsis'
import { useState } from 'react'
import type { RunChange } from '../../../../../schemas/runs/runs.ts'
import { Button } from '../../design/button.tsx'
import { Icon } from '../../design/icon.tsx'
import { Menu, MenuItem } from '../../design/menu.tsx'
import { Failure } from '../../design/notice.tsx'
import { usePart } from '../../design/use-part.ts'
import { queries, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import { changeRun } from './change.ts'
import styles from './head.module.css'
import type { JobDetail } from './phases.ts'
import { type Action, offered, stateAfter } from './rules.ts'
import { pathOfJob, pathOfRun, type RunRecord } from './use-run.ts'
import { words } from './words.ts'

type Props = { run: RunRecord; job: JobDetail | null }

const loadDialogs = () => import('./action-dialog.tsx')

const asking: readonly Action[] = ['stop', 'forceStop', 'delete', 'tags']
const dangerous: readonly Action[] = ['stop', 'forceStop', 'delete']

/** The actions that are possible now: at most two buttons, and a menu. */
export function Actions({ run, job }: Props) {
  const say = useWords(words)
  const navigate = useNavigate()
  const [asks, setAsks] = useState<Action | null>(null)
  const dialogs = usePart(asks === null ? null : loadDialogs)
  const { act, busy, error } = useActing(run, job)
  const begin = (action: Action) => {
    if (action === 'clone') void navigate({ to: '/submit', search: { from: run.short_id } })
    else if (asking.includes(action)) setAsks(action)
    else void act(action)
  }
  const close = (action: Action, body?: object) => {
    setAsks(null)
    void act(action, body)
  }
  const { first, others } = offered({
    state: job?.state ?? run.state,
    isJob: run.job_exists,
    isDeleted: run.deleted_at !== null,
    isArchived: run.archived,
    isSilent: run.silent_since !== null,
  })
  return (
    <div className={styles.actions}>
      {first.map(action => (
        <Button
          key={action}
          isDangerous={dangerous.includes(action)}
          busy={busy === action}
          onClick={() => begin(action)}
        >
          {say[action]}
        </Button>
      ))}
      {others.length > 0 && (
        <Menu
          label={say.more}
          shown={<Icon of={Ellipsis} />}
          // A person who types at once types into the dialog.
          onNear={() => void loadDialogs().catch(() => {})}
        >
          {others.map(action => (
            <MenuItem
              key={action}
              isDangerous={dangerous.includes(action)}
              onSelect={() => begin(action)}
            >
              {say[action]}
            </MenuItem>
          ))}
        </Menu>
      )}
      {asks !== null && dialogs && (
        <dialogs.ActionDialog
          {...{ run, asks }}
          onClose={() => setAsks(null)}
          onYes={body => close(asks, body)}
        />
      )}
      <Failure error={error} />
    </div>
  )
}

/** Shows the expected state at once, then the state that the server reports. */
function useActing(run: RunRecord, job: JobDetail | null) {
  const navigate = useNavigate()
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState<Action | null>(null)
  const act = async (action: Action, body: object = {}) => {
    setBusy(action)
    setError(null)
    const state = job && stateAfter(action, job.state)
    if (state) queries.setQueryData([pathOfJob(run.run_id)], { ...job, state })
    try {
      const { short_id } = await send(action, run, body)
      if (action === 'retry' && short_id)
        void navigate({ to: '/runs/$run_id', params: { run_id: short_id } })
      if (action === 'diagnose')
        void navigate({
          to: '/runs/$run_id/$tab',
          params: { run_id: run.short_id, tab: 'overview' },
        })
    } catch (failure) {
      setError(failure)
    }
    await reread('/api/runs', '/api/jobs', '/api/queue')
    setBusy(null)
  }
  return { act, busy, error }
}

const changed = async (run: RunRecord, change: RunChange): Promise<object> =>
  changeRun(run.run_id, change)

function send(action: Action, run: RunRecord, body: object): Promise<{ short_id?: string }> {
  const path = (run.job_exists ? pathOfJob : pathOfRun)(run.run_id)
  switch (action) {
    case 'delete':
      return request('DELETE', pathOfRun(run.run_id))
    case 'restore':
      return request('POST', `${pathOfRun(run.run_id)}/restore`)
    case 'diagnose':
      return request('POST', '/api/job/diagnose', { body: { job_id: run.run_id } })
    case 'tags':
      return changed(run, body)
    case 'archive':
    case 'unarchive':
      return changed(run, { archived: action === 'archive' })
    case 'forceStop':
      return request('POST', `${path}/stop`, { body: { force: true } })
    default:
      return request('POST', `${path}/${action}`, { body })
  }
}
