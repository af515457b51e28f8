import type { FormEvent } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
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
    <Dialog title={say.stop} onClose={onClose}>
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
            <Badge state={run.job_state ?? run.state} />
          </li>
        ))}
        {more > 0 && <li className={styles.soft}>{say.andMore(more)}</li>}
      </ul>
      <Button kind="danger" onClick={onStop} unless={runs.length === 0 && say.allOver}>
        {say.stop}
      </Button>
    </Dialog>
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
        <Button kind="main" type="submit">
          {say.tag}
        </Button>
      </form>
    </Dialog>
  )
}
