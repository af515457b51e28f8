import { type ReactNode, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextArea } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Panel } from '../../design/panel.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Deployment, pathOf } from './paths.ts'
import { words } from './words.ts'

export type LineList = {
  field: 'allowed_origins' | 'benchmark_gates'
  title: string
  /** Shown if the list is empty. */
  none: string
  /** The title of the dialog, and the label of its text, one entry a line. */
  asking: string
  label: string
  entry: (value: string) => ReactNode
}
type Props = LineList & { deployment: Deployment }

/** A setting that is a list of texts, changed as lines. */
export function LineSetting({ entry, none, ...props }: Props) {
  const say = useWords(words)
  const [isOpen, setOpen] = useState(false)
  const values = props.deployment[props.field]
  return (
    <Panel
      title={props.title}
      actions={<Button onClick={() => setOpen(true)}>{say.changeList}</Button>}
    >
      {values.length === 0 ? (
        <p className={styles.soft}>{none}</p>
      ) : (
        <ul>
          {values.map(value => (
            <li key={value}>{entry(value)}</li>
          ))}
        </ul>
      )}
      {isOpen && <Change {...props} onClose={() => setOpen(false)} />}
    </Panel>
  )
}

type ChangeProps = Pick<Props, 'deployment' | 'field' | 'asking' | 'label'> & {
  onClose: () => void
}

function Change({ deployment, field, asking, label, onClose }: ChangeProps) {
  const say = useWords(words)
  const path = pathOf(deployment.deployment_id)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const lines = String(given.get('lines')).split(/\s+/).filter(Boolean)
    await request('PATCH', path, { body: { [field]: [...new Set(lines)] } })
    await reread(path)
    onClose()
  })
  return (
    <Dialog title={asking} onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit}>
        <TextArea
          label={label}
          name="lines"
          rows={5}
          defaultValue={deployment[field].join('\n')}
          autoFocus
        />
        <FormEnd error={error} isBusy={isBusy} text={say.save} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
