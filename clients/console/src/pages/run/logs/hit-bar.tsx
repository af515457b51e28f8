import ChevronDown from 'lucide-react/icons/chevron-down'
import ChevronUp from 'lucide-react/icons/chevron-up'
import { Button, IconButton } from '../../../design/button.tsx'
import { Failure } from '../../../design/notice.tsx'
import { useWords } from '../../../words/words.ts'
import type { Hits, Seek } from './hits.ts'
import { words } from './words.ts'

type Props = {
  hits: Hits
  seek: Seek
  /** The reader's current line; 0 in the list of all hits. */
  line: number
  /** The number of the newest line, where it is known. */
  last: number | undefined
  /** From a hit to the list of all hits. */
  onAll: () => void
  /** To the log without a filter. */
  onLeave: () => void
}

/** Which hit of how many is shown, and the ways to the others. */
export function HitBar({ hits, seek, line, last, onAll, onLeave }: Props) {
  const say = useWords(words)
  const { lines, isAll, searchedTo, searchFurther } = hits
  const share = Math.floor(Math.min(1, searchedTo / Math.max(1, last ?? 0)) * 100)
  const nth = lines.findIndex(({ seq }) => seq === line) + 1
  const isNone = isAll && lines.length === 0
  const counted = nth > 0 ? say.nth(nth, lines.length, isAll) : say.hits(lines.length, isAll)
  return (
    <>
      <span role="status" data-fact="hits">
        {isNone ? say.noneFound : counted}
        {!isAll && ` · ${say.searched(`${share} %`)}`}
      </span>
      <IconButton
        icon={ChevronUp}
        name={say.previousHit}
        busy={seek.busy === 'prev'}
        onClick={() => void seek.seek('prev')}
      />
      <IconButton
        icon={ChevronDown}
        name={say.nextHit}
        busy={seek.busy === 'next'}
        onClick={() => void seek.seek('next')}
      />
      {seek.end !== null && !isNone && (
        <span role="status">{seek.end === 'next' ? say.lastHit : say.firstHit}</span>
      )}
      {searchFurther && (
        <Button busy={hits.isFetching} onClick={searchFurther}>
          {say.more}
        </Button>
      )}
      {line > 0 && <Button onClick={onAll}>{say.allHits}</Button>}
      <Button onClick={onLeave}>{say.leave}</Button>
      <Failure error={seek.error} />
    </>
  )
}
