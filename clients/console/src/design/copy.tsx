import Check from 'lucide-react/icons/check'
import Copy from 'lucide-react/icons/copy'
import { useWords, wordsOf } from '../words/words.ts'
import { IconButton } from './button.tsx'
import styles from './copy.module.css'
import { useCopied } from './use-copied.ts'

const words = wordsOf({ copy: ['Copy', '复制'], copied: ['Copied', '已复制'] })

/** Text to copy: a command, an address. `shown` abbreviates a long one, which is copied whole. */
export function Copyable({ text, shown = text }: { text: string; shown?: string }) {
  return (
    <span className={styles.copyable}>
      <code title={shown === text ? undefined : text}>{shown}</code>
      <CopyButton text={text} />
    </span>
  )
}

/** A piece of code of several lines, with a button that copies it. */
export const CodeBlock = ({ text, name }: { text: string; name: string }) => (
  <div className={styles.block}>
    <pre role="region" aria-label={name} tabIndex={0}>
      {text}
    </pre>
    <CopyButton text={text} what={name} />
  </div>
)

function CopyButton({ text, what = text }: { text: string; what?: string }) {
  const say = useWords(words)
  const { isCopied, copy } = useCopied()
  return (
    <>
      <IconButton
        icon={isCopied ? Check : Copy}
        name={`${say.copy}: ${what}`}
        onClick={() => copy(text)}
      />
      <span className="visually-hidden" aria-live="polite">
        {isCopied && say.copied}
      </span>
    </>
  )
}
