import { type KeyboardEvent, useState } from 'react'
import { Button } from '../../../design/button.tsx'
import { TextArea } from '../../../design/field.tsx'
import { Markdown } from '../../../design/markdown.tsx'
import { Failure } from '../../../design/notice.tsx'
import { Panel } from '../../../design/panel.tsx'
import { useFocusBack } from '../../../design/use-focus-back.ts'
import { reread } from '../../../session/api.ts'
import { useSubmit } from '../../../session/use-submit.ts'
import { useWords } from '../../../words/words.ts'
import { changeRun } from '../change.ts'
import type { RunRecord } from '../use-run.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

/** The notes of a run, in Markdown, edited in place. */
export function Notes({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const [isEditing, setEditing] = useState(false)
  const edit = useFocusBack(isEditing)
  const canEdit = !isEditing && run.deleted_at === null
  return (
    <Panel
      title={say.notes}
      actions={
        canEdit && (
          <Button ref={edit} kind="quiet" onClick={() => setEditing(true)}>
            {run.notes === '' ? say.addNotes : say.edit}
          </Button>
        )
      }
    >
      {isEditing ? (
        <Editor run={run} onClose={() => setEditing(false)} />
      ) : (
        run.notes !== '' && <Markdown text={run.notes} />
      )}
    </Panel>
  )
}

/** The most that the server accepts. */
const maxLength = 16_384

function Editor({ run, onClose }: { run: RunRecord; onClose: () => void }) {
  const say = useWords(words)
  const [before] = useState(run.notes)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    // Forms end lines with a carriage return, too.
    const notes = String(given.get('notes')).replaceAll('\r\n', '\n').trim()
    await changeRun(run.run_id, { notes })
    await reread('/api/runs')
    onClose()
  })
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
      event.currentTarget.form?.requestSubmit()
    // Text that somebody has typed is only thrown away by the button.
    if (event.key === 'Escape' && event.currentTarget.value === before) onClose()
  }
  return (
    <form className={styles.editor} onSubmit={onSubmit}>
      <TextArea
        label={say.notes}
        hint={say.notesHint}
        name="notes"
        rows={10}
        maxLength={maxLength}
        defaultValue={run.notes}
        onKeyDown={onKeyDown}
        autoFocus
      />
      {run.notes !== before && <p role="status">{say.changedMeanwhile}</p>}
      <Failure error={error} />
      <p className={styles.marks}>
        <Button kind="main" type="submit" busy={isBusy}>
          {say.save}
        </Button>
        <Button onClick={onClose}>{say.cancel}</Button>
      </p>
    </form>
  )
}
