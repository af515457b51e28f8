import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { TextArea } from '../../design/field.tsx'
import { Markdown } from '../../design/markdown.tsx'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { useFocusBack } from '../../design/use-focus-back.ts'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Detail, pathOf } from './paths.ts'
import { words } from './words.ts'

/** The most that the server accepts. */
const maxLength = 50_000

/** What a dataset is, in Markdown, edited in place by those who write it. */
export function Card({ dataset }: { dataset: Detail }) {
  const say = useWords(words)
  const [isEditing, setEditing] = useState(false)
  const edit = useFocusBack(isEditing)
  const { card, may } = dataset
  return (
    <Panel
      title={say.card}
      actions={
        may === 'write' &&
        !isEditing && (
          <Button ref={edit} kind="quiet" onClick={() => setEditing(true)}>
            {say.edit}
          </Button>
        )
      }
    >
      {isEditing ? (
        <Editor dataset={dataset} onClose={() => setEditing(false)} />
      ) : card === '' ? (
        <p className={styles.soft}>{say.noCard}</p>
      ) : (
        <Markdown text={card} />
      )}
    </Panel>
  )
}

function Editor({ dataset, onClose }: { dataset: Detail; onClose: () => void }) {
  const say = useWords(words)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    // Forms end lines with a carriage return, too.
    const card = String(given.get('card')).replaceAll('\r\n', '\n').trim()
    await request('PATCH', pathOf(dataset), { body: { card } })
    await reread(pathOf(dataset))
    onClose()
  })
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <TextArea
        label={say.card}
        hint={say.cardHint}
        name="card"
        rows={10}
        maxLength={maxLength}
        defaultValue={dataset.card}
        autoFocus
      />
      <Failure error={error} />
      <div className={styles.row}>
        <Button kind="main" type="submit" busy={isBusy}>
          {say.save}
        </Button>
        <Button onClick={onClose}>{say.cancel}</Button>
      </div>
    </form>
  )
}
