import { type KeyboardEvent, useState } from 'react'
import { useSubmit } from '../session/use-submit.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { Button } from './button.tsx'
import { TextArea } from './field.tsx'
import { Failure } from './notice.tsx'
import styles from './written.module.css'

const words = wordsOf({
  save: ['Save', '保存'],
  cancel: ['Cancel', '取消'],
  changedMeanwhile: [
    'Somebody has changed this text since; saving replaces it.',
    '此文本已被他人修改，保存将覆盖。',
  ],
})

type Props = {
  title: string
  /** As the page knows it. */
  text: string
  hint: string
  /** The most that the server accepts, in characters. */
  maxLength: number
  /** Reads the current text. */
  read: () => Promise<string>
  save: (text: string) => Promise<void>
  onClose: () => void
}

/** A text that somebody else has changed since is replaced only by a person who has seen a warning. */
export function WrittenEditor({ title, text, hint, maxLength, read, save, onClose }: Props) {
  const say = useWords(words)
  const [before] = useState(text)
  /** The text of somebody else that the warning is about. */
  const [found, setFound] = useState(text)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const now = await read()
    setFound(now)
    if (now !== before && now !== found && now !== text) return
    // Forms end lines with a carriage return, too.
    await save(String(given.get('text')).replaceAll('\r\n', '\n').trim())
    onClose()
  })
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
      event.currentTarget.form?.requestSubmit()
    // Text that somebody has typed is only thrown away by the button.
    if (event.key === 'Escape' && event.currentTarget.value === before) onClose()
  }
  return (
    <form className={styles.form} onSubmit={onSubmit}>
      <TextArea
        label={title}
        hint={hint}
        name="text"
        rows={10}
        maxLength={maxLength}
        defaultValue={before}
        onKeyDown={onKeyDown}
        autoFocus
      />
      {(text !== before || found !== before) && <p role="status">{say.changedMeanwhile}</p>}
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
