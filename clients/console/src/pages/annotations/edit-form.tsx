import { useRef, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Field } from '../../design/field.tsx'
import layout from '../../design/layout.module.css'
import { useWords } from '../../words/words.ts'
import type { FormProps } from './form.ts'
import styles from './page.module.css'
import { useKeys } from './use-keys.ts'
import { words } from './work-words.ts'

const mostCharacters = 100_000

/** The text in a field. Outside it keys act; `e` enters it, Escape leaves it. */
export function EditForm({ item, draft, work }: FormProps) {
  const say = useWords(words)
  const area = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(draft?.text ?? item.responses[0] ?? '')
  const send = () => work.answer({ text })
  useKeys({ e: () => area.current?.focus(), Enter: send })
  return (
    <>
      <Field label={draft?.text == null ? say.corrected : `${say.corrected} · ${say.draft}`}>
        {given => (
          <textarea
            {...given}
            ref={area}
            className={styles.area}
            maxLength={mostCharacters}
            value={text}
            onChange={event => setText(event.target.value)}
            onKeyDown={event => {
              if (event.key === 'Escape') event.currentTarget.blur()
              else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
                event.preventDefault()
                send()
              }
            }}
          />
        )}
      </Field>
      <div className={layout.row}>
        <Button onClick={() => area.current?.focus()}>
          {say.edit} <kbd>e</kbd>
        </Button>
        <Button kind="main" onClick={send} busy={work.isBusy}>
          {say.send} <kbd>Enter</kbd>
        </Button>
      </div>
    </>
  )
}
