import { messagesIn } from '../../design/messages.ts'
import { Talk, Text } from '../../design/talk.tsx'
import { visible } from '../../words/visible.ts'
import styles from './page.module.css'

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
