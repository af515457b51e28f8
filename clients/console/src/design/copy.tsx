import { useEffect, useState } from 'react'
import { useWords, wordsOf } from '../words/words.ts'
import { Button } from './button.tsx'
import styles from './copy.module.css'

const words = wordsOf({ copy: ['Copy', '复制'], copied: ['Copied', '已复制'] })

/** Text to copy: a command, an id. `shown` abbreviates a long one, which is copied whole. */
export function Copyable({ text, shown = text }: { text: string; shown?: string }) {
  const say = useWords(words)
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <span className={styles.copyable}>
      <code title={shown === text ? undefined : text}>{shown}</code>
      <Button
        kind="quiet"
        aria-label={`${say.copy}: ${text}`}
        onClick={() => void navigator.clipboard?.writeText(text).then(() => setCopied(true))}
      >
        <span aria-live="polite">{isCopied ? say.copied : say.copy}</span>
      </Button>
    </span>
  )
}
