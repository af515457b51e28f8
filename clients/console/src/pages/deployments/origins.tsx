import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextArea } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Panel } from '../../design/panel.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Deployment, pathOf } from './paths.ts'
import { words } from './words.ts'

/** The origins whose web pages may call the deployment. */
export function Origins({ deployment }: { deployment: Deployment }) {
  const say = useWords(words)
  const [isOpen, setOpen] = useState(false)
  const { allowed_origins } = deployment
  return (
    <Panel
      title={say.origins}
      actions={<Button onClick={() => setOpen(true)}>{say.changeOrigins}</Button>}
    >
      {allowed_origins.length === 0 ? (
        <p className={styles.soft}>{say.noOrigins}</p>
      ) : (
        <ul>
          {allowed_origins.map(origin => (
            <li key={origin}>{origin === '*' ? say.everyOrigin : visible(origin)}</li>
          ))}
        </ul>
      )}
      {isOpen && <Change deployment={deployment} onClose={() => setOpen(false)} />}
    </Panel>
  )
}

function Change({ deployment, onClose }: { deployment: Deployment; onClose: () => void }) {
  const say = useWords(words)
  const path = pathOf(deployment.deployment_id)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const lines = String(given.get('origins')).split(/\s+/).filter(Boolean)
    await request('PATCH', path, { body: { allowed_origins: [...new Set(lines)] } })
    await reread(path)
    onClose()
  })
  return (
    <Dialog title={say.originsOf(deployment.name)} onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit}>
        <TextArea
          label={say.originsOneALine}
          name="origins"
          rows={5}
          defaultValue={deployment.allowed_origins.join('\n')}
          autoFocus
        />
        <FormEnd error={error} isBusy={isBusy} text={say.save} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
