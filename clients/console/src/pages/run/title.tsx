import Pencil from 'lucide-react/icons/pencil'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { Icon } from '../../design/icon.tsx'
import { Failure } from '../../design/notice.tsx'
import { useFocusBack } from '../../design/use-focus-back.ts'
import { reread } from '../../session/api.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { changeRun } from './change.ts'
import styles from './head.module.css'
import type { RunRecord } from './use-run.ts'
import { words } from './words.ts'

/** The name of a run, edited in place. */
export function Title({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const [isEditing, setEditing] = useState(false)
  const pen = useFocusBack(isEditing)
  const name = visible(run.name ?? run.short_id)
  return (
    <>
      <h1 className={isEditing ? 'visually-hidden' : undefined}>{name}</h1>
      {isEditing ? (
        <Editor run={run} onClose={() => setEditing(false)} />
      ) : (
        run.deleted_at === null && (
          <button
            ref={pen}
            type="button"
            className={styles.pen}
            aria-label={say.rename}
            title={say.rename}
            onClick={() => setEditing(true)}
          >
            <Icon of={Pencil} />
          </button>
        )
      )}
    </>
  )
}

/** A job always has a name; an external run without one is shown by its id. */
function Editor({ run, onClose }: { run: RunRecord; onClose: () => void }) {
  const say = useWords(words)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    await changeRun(run.run_id, { name: String(given.get('name')).trim() || null })
    await reread('/api/runs', '/api/jobs')
    onClose()
  })
  return (
    <form
      className={styles.editor}
      onSubmit={onSubmit}
      onKeyDown={event => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <TextField
        label={say.name}
        name="name"
        defaultValue={run.name ?? ''}
        placeholder={run.short_id}
        maxLength={256}
        required={run.job_exists}
        autoFocus
      />
      <Button kind="main" type="submit" busy={isBusy}>
        {say.save}
      </Button>
      <Button onClick={onClose}>{say.cancel}</Button>
      <Failure error={error} />
    </form>
  )
}
