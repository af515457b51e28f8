import { useNavigate } from '@tanstack/react-router'
import Ellipsis from 'lucide-react/icons/ellipsis'
import { useState } from 'react'
import { Ask } from '../../design/ask.tsx'
import { Button } from '../../design/button.tsx'
import { Icon } from '../../design/icon.tsx'
import { Menu, MenuItem } from '../../design/menu.tsx'
import { Failure } from '../../design/notice.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Deployment, pathOf, type Revision } from './paths.ts'
import { Promote } from './promote.tsx'
import { words } from './words.ts'

type Props = { deployment: Deployment; revisions: readonly Revision[] }
type Asked = 'rollback' | 'suspend' | 'delete'

export function Actions({ deployment, revisions }: Props) {
  const say = useWords(words)
  const navigate = useNavigate()
  const [asked, setAsked] = useState<Asked | null>(null)
  const { act, error, isBusy, clear } = useAct()
  const path = pathOf(deployment.deployment_id)
  const close = () => setAsked(null)
  const begin = (next: Asked) => {
    clear()
    setAsked(next)
  }
  const send = (method: 'POST' | 'DELETE', to: string) =>
    act(async () => {
      await request(method, to, { ...(method === 'POST' && { body: {} }) })
      close()
      await reread('/api/deployments')
      if (method === 'DELETE') void navigate({ to: '/deployments' })
    })
  const previous = revisions.find(one => one.revision_id === deployment.previous_revision_id)
  const isSuspended = ['suspended', 'suspending'].includes(deployment.state)
  return (
    <div className={styles.actions}>
      {previous?.state === 'ready' && (
        <Button onClick={() => begin('rollback')}>{say.rollback}</Button>
      )}
      {isSuspended && (
        <Button kind="main" busy={isBusy} onClick={() => void send('POST', `${path}/resume`)}>
          {say.resume}
        </Button>
      )}
      <Menu label={say.more} shown={<Icon of={Ellipsis} />}>
        {!isSuspended && <MenuItem onSelect={() => begin('suspend')}>{say.suspend}</MenuItem>}
        <MenuItem isDangerous onSelect={() => begin('delete')}>
          {say.delete}
        </MenuItem>
      </Menu>
      {asked === null && <Failure error={error} />}
      {asked === 'rollback' && previous && (
        <Promote
          deployment={deployment}
          to={previous}
          from={revisions.find(one => one.promoted)}
          isRollback
          onClose={close}
        />
      )}
      {asked === 'suspend' && (
        <Ask
          title={say.suspendOf(deployment.name)}
          text={say.suspend}
          isDangerous
          busy={isBusy}
          error={error}
          onYes={() => void send('POST', `${path}/suspend`)}
          onClose={close}
        >
          <p>{say.sureSuspend}</p>
        </Ask>
      )}
      {asked === 'delete' && (
        <Ask
          title={say.deleteOf(deployment.name)}
          text={say.delete}
          isDangerous
          busy={isBusy}
          error={error}
          onYes={() => void send('DELETE', path)}
          onClose={close}
        >
          <p>
            {say.sureDelete(
              deployment.token_count,
              deployment.revision_count,
              deployment.replicas.ready,
            )}
          </p>
        </Ask>
      )}
    </div>
  )
}
