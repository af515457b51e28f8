import type { Pages } from '../session/use-pages.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { Button } from './button.tsx'
import styles from './notice.module.css'

const words = wordsOf({
  shown: [
    (shown: number, total: number | null) =>
      `The first ${shown} of ${total ?? 'more than 10,000'} are shown.`,
    (shown: number, total: number | null) =>
      `显示前 ${shown} 项，共${total === null ? '超过 10,000' : ` ${total}`} 项。`,
  ],
  more: ['Show more', '显示更多'],
})

/** Says that a list goes on, and reads on; nothing where it is whole. */
export function More({ of }: { of: Pages<unknown> }) {
  const say = useWords(words)
  if (of.more === null || of.data === undefined) return null
  return (
    <p className={styles.more}>
      <span role="status">{say.shown(of.data.length, of.total)}</span>{' '}
      <Button busy={of.isReading} onClick={of.more}>
        {say.more}
      </Button>
    </p>
  )
}
