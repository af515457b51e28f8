import type { FormEvent } from 'react'
import { Ask } from '../../design/ask.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { useWords, wordsOf } from '../../words/words.ts'
import styles from './head.module.css'
import type { Action } from './rules.ts'
import type { RunRecord } from './use-run.ts'
import { words as ofRun } from './words.ts'

const words = wordsOf({
  sureStop: [
    'The code is asked to end, and may write a last checkpoint; after its grace period it is killed.',
    '会请求代码结束，它可以写入最后一个检查点；宽限期过后将被强制终止。',
  ],
  sureDelete: [
    'It disappears from lists, and can be restored for 30 days.',
    '它将从列表中消失，30 天内可以恢复。',
  ],
  tagsOf: [(id: string) => `Tags of ${id}`, (id: string) => `${id} 的标签`],
  tagList: ['Tags, separated by commas', '标签，以逗号分隔'],
  sureForce: [
    'The code is killed at once; unsaved work is lost.',
    '代码会被立即终止，未保存的内容将丢失。',
  ],
})

type Props = {
  run: RunRecord
  asks: Action
  onClose: () => void
  onYes: (body?: object) => void
}

/** What an action asks before it is done: its tags, or whether it is meant. */
export function ActionDialog({ run, asks, onClose, onYes }: Props) {
  const say = { ...useWords(ofRun), ...useWords(words) }
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
  const say = { ...useWords(ofRun), ...useWords(words) }
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
