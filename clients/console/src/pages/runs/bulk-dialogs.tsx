import type { FormEvent } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Ask } from '../../design/ask.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { State } from '../../design/state.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { firstOf } from './choice.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type StopProps = { runs: readonly RunRow[]; onClose: () => void; onStop: () => void }

/** Names the affected runs, which need not be in view. */
export function StopDialog({ runs, onClose, onStop }: StopProps) {
  const say = useWords(words)
  const { first, more } = firstOf(runs)
  return (
    <Ask
      title={say.stop}
      text={say.stop}
      isDangerous
      unless={runs.length === 0 && say.allOver}
      onYes={onStop}
      onClose={onClose}
    >
      <p>{say.stopAll(runs.length)}</p>
      <ul className={styles.asked}>
        {first.map(run => (
          <li key={run.run_id}>
            <span className={styles.askedName}>
              {visible(run.name ?? run.short_id)}{' '}
              <span className={styles.soft}>
                {run.name !== null && `${run.short_id} · `}
                {run.project}
              </span>
            </span>
            <State state={run.job_state ?? run.state} />
          </li>
        ))}
        {more > 0 && <li className={styles.soft}>{say.andMore(more)}</li>}
      </ul>
    </Ask>
  )
}

export function TagDialog({
  onClose,
  onTag,
}: {
  onClose: () => void
  onTag: (tag: string) => void
}) {
  const say = useWords(words)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onTag(String(new FormData(event.currentTarget).get('tag')).trim())
  }
  return (
    <Dialog title={say.tag} onClose={onClose}>
      <form onSubmit={submit} className={styles.search}>
        <TextField label={say.tagName} name="tag" required maxLength={64} autoFocus />
        <FormEnd error={null} text={say.tag} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
