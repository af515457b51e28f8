import { useState } from 'react'
import type { LogLine } from '../../../../../../schemas/logs.ts'
import { Button } from '../../../design/button.tsx'
import { Failure } from '../../../design/notice.tsx'
import { addressOf } from '../../../session/api.ts'
import { linkIn } from '../../../session/base-path.ts'
import { accepted, authorized } from '../../../session/session.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun } from '../use-run.ts'
import type { Filter } from './filter.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

type Props = {
  runId: string
  filter: Filter
  /** The reader's current line. */
  line: number
  onLine: (seq: number) => void
  /** Returns to the list of all hits. */
  onAll: () => void
}

type Way = 'next' | 'prev'

/** In the context of a hit: moves to the previous and the next one. */
export function HitBar({ runId, filter, line, onLine, onAll }: Props) {
  const say = useWords(words)
  const [busy, setBusy] = useState<Way | null>(null)
  const [said, setSaid] = useState<unknown>(null)
  const seek = async (way: Way) => {
    setBusy(way)
    setSaid(null)
    try {
      const seq = await findHit(`${pathOfRun(runId)}/logs`, { filter, line, way })
      if (seq === null) setSaid(way)
      else onLine(seq)
    } catch (error) {
      setSaid(error)
    } finally {
      setBusy(null)
    }
  }
  return (
    <div className={styles.bar}>
      <Button busy={busy === 'prev'} onClick={() => void seek('prev')}>
        {say.previousHit}
      </Button>
      <Button busy={busy === 'next'} onClick={() => void seek('next')}>
        {say.nextHit}
      </Button>
      <Button onClick={onAll}>{say.allHits}</Button>
      {said === 'next' || said === 'prev' ? (
        <span role="status">{said === 'next' ? say.lastHit : say.firstHit}</span>
      ) : (
        <Failure error={said} />
      )}
    </div>
  )
}

type Seek = { filter: Filter; line: number; way: Way }

/** The number of the nearest matching line; null if there is none on that side. */
async function findHit(path: string, { filter, line, way }: Seek): Promise<number | null> {
  const side = way === 'next' ? { after: line } : { before: line }
  let address: string | null = addressOf(path, { ...filter, ...side, limit: 1 })
  while (address !== null) {
    const response: Response = await authorized('GET', address, {})
    const [found] = (await accepted(response)) as LogLine[]
    if (found) return found.seq
    address = linkIn(response, way)
  }
  return null
}
