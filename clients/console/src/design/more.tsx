import type { Pages } from '../session/use-pages.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { Button } from './button.tsx'
import styles from './notice.module.css'

const words = wordsOf({
  shown: [
    (shown: number, total: number | null) =>
      `The first ${shown} of ${total ?? 'more than 10,000'} are shown.`,
    (shown: number, total: number | null) =>
      `已读取前 ${shown} 项，共${total === null ? '超过 10,000' : ` ${total}`} 项。`,
  ],
  more: ['Load more', '读取更多'],
})

type Part = Pick<Pages<unknown>, 'data' | 'total' | 'more' | 'isReading'>

/** Says that a list continues, and loads more of it; empty once it is complete. `what` names one of several lists. */
export function More({ of, what }: { of: Part; what?: string }) {
  const say = useWords(words)
  if (of.more === null || of.data === undefined) return null
  return (
    <p className={styles.more}>
      <span role="status">
        {what && `${what}: `}
        {say.shown(of.data.length, of.total)}
      </span>{' '}
      <Button aria-label={what && `${say.more}: ${what}`} busy={of.isReading} onClick={of.more}>
        {say.more}
      </Button>
    </p>
  )
}
