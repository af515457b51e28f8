import { useState } from 'react'
import { visible } from '../words/visible.ts'
import { useLanguage, useWords, wordsOf } from '../words/words.ts'
import { Button } from './button.tsx'
import { type Message, textOf } from './messages.ts'
import styles from './talk.module.css'

const words = wordsOf({
  showAll: [(n: string) => `Show all ${n} characters`, (n: string) => `显示全部 ${n} 个字符`],
})

/** The messages of a conversation, with roles. */
export const Talk = ({ messages }: { messages: readonly Message[] }) => (
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

type TextProps = { text: string; isCode?: boolean; isWhole?: boolean }

/** A text unchanged, with its line breaks; what would not be visible is named. */
export function Text({ text, isCode = false, isWhole: always = false }: TextProps) {
  const say = useWords(words)
  const language = useLanguage()
  const [isOpened, setOpened] = useState(false)
  const isWhole = always || isOpened || text.length <= mostShown
  const shown = visible(isWhole ? text : `${text.slice(0, mostShown)}…`)
  return (
    <>
      {isCode ? (
        <pre className={`${styles.value} ${styles.code}`}>{shown}</pre>
      ) : (
        <p className={styles.value}>{shown}</p>
      )}
      {!isWhole && (
        <Button kind="quiet" onClick={() => setOpened(true)}>
          {say.showAll(text.length.toLocaleString(language))}
        </Button>
      )}
    </>
  )
}
