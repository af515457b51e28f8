import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { type Message, messagesIn, textOf } from './messages.ts'
import styles from './page.module.css'
import { words } from './words.ts'

/** A row, field by field: conversations as messages with roles, texts unchanged, anything else as JSON. */
export function Record({ of }: { of: unknown }) {
  if (typeof of !== 'object' || of === null || Array.isArray(of)) return <Value of={of} />
  return (
    <dl>
      {Object.entries(of).map(([name, value]) => (
        <div key={name} className={messagesIn(value) ? styles.whole : styles.field}>
          <dt className={name === 'messages' ? 'visually-hidden' : undefined}>{visible(name)}</dt>
          <dd>
            <Value of={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Value({ of }: { of: unknown }) {
  const messages = messagesIn(of)
  if (messages) return <Talk messages={messages} />
  if (typeof of === 'string') return <Text text={of} />
  return <Text text={JSON.stringify(of, null, 2) ?? ''} isCode={typeof of === 'object'} />
}

const Talk = ({ messages }: { messages: readonly Message[] }) => (
  <ol className={styles.talk}>
    {[...messages.entries()].map(([nth, { role, content, rest }]) => (
      <li key={nth} className={styles.said}>
        <span className={styles.role}>{visible(role)}</span>
        <div>
          {textOf(content) !== '' && <Text text={textOf(content)} />}
          {rest !== null && <Text text={JSON.stringify(rest, null, 2)} isCode />}
        </div>
      </li>
    ))}
  </ol>
)

/** Longer texts are cut, with a button that shows the rest. */
const mostShown = 2_000

function Text({ text, isCode = false }: { text: string; isCode?: boolean }) {
  const say = useWords(words)
  const language = useLanguage()
  const [isWhole, setWhole] = useState(text.length <= mostShown)
  const shown = visible(isWhole ? text : `${text.slice(0, mostShown)}…`)
  return (
    <>
      {isCode ? (
        <pre className={`${styles.value} ${styles.code}`}>{shown}</pre>
      ) : (
        <p className={styles.value}>{shown}</p>
      )}
      {!isWhole && (
        <Button kind="quiet" onClick={() => setWhole(true)}>
          {say.showAll(text.length.toLocaleString(language))}
        </Button>
      )}
    </>
  )
}
