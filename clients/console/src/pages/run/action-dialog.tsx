import type { FormEvent } from 'react'
import { Ask } from '../../design/ask.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { useWords } from '../../words/words.ts'
import styles from './head.module.css'
import type { Action } from './rules.ts'
import type { RunRecord } from './use-run.ts'
import { words } from './words.ts'

type Props = {
  run: RunRecord
  asks: Action
  onClose: () => void
  onYes: (body?: object) => void
}

/** What an action asks before it is done: its tags, or whether it is meant. */
export function ActionDialog({ run, asks, onClose, onYes }: Props) {
  const say = useWords(words)
  if (asks === 'tags')
    return (
      <TagDialog
        name={run.short_id}
        tags={run.tags}
        onClose={onClose}
        onSave={tags => onYes({ tags })}
      />
    )
  const sure = { stop: say.sureStop, forceStop: say.sureForce, delete: say.sureDelete }
  return (
    <Ask
      title={say.of(say[asks], run.short_id)}
      text={say[asks]}
      isDangerous
      onYes={() => onYes()}
      onClose={onClose}
    >
      <p>{sure[asks as 'stop'] ?? null}</p>
    </Ask>
  )
}

function TagDialog({
  name,
  tags,
  onClose,
  onSave,
}: {
  name: string
  tags: readonly string[]
  onClose: () => void
  onSave: (tags: string[]) => void
}) {
  const say = useWords(words)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get('tags'))
    const named = text.split(',').map(tag => tag.trim())
    onSave([...new Set(named.filter(tag => tag !== ''))])
  }
  return (
    <Dialog title={say.tagsOf(name)} onClose={onClose}>
      <form onSubmit={submit} className={styles.form}>
        <TextField label={say.tagList} name="tags" defaultValue={tags.join(', ')} autoFocus />
        <FormEnd error={null} text={say.save} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
