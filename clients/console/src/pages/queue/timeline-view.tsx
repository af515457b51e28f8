import { useRef } from 'react'
import type { QueueRow } from '../../../../../schemas/queue.ts'
import { useWidth } from '../../design/use-width.ts'
import { lengthOf } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Block, blocksOf, type Holder, shownS, timelinePlaceOf } from './timeline.ts'
import { words } from './words.ts'

const rowHeight = 22
/** Room for the text of a block that begins near the end. */
const textPx = 160

type Props = { series: string; holders: readonly Holder[]; waiting: readonly QueueRow[] }

/** Running jobs with their ends, and the likely starts of waiting ones; the table below says the same in words. */
export function Timeline({ series, holders, waiting }: Props) {
  const say = useWords(words)
  const blocks = blocksOf(holders, waiting, Date.now())
  if (blocks.length === 0) return <p className={styles.soft}>{say.idle}</p>
  const label = say.timelineOf(series, holders.length, waiting.length)
  return <Blocks {...{ series, label, blocks }} />
}

/** Separate, so that the width is measured once there is something that has one. */
function Blocks(props: { series: string; label: string; blocks: readonly Block[] }) {
  const { series, label, blocks } = props
  const say = useWords(words)
  const box = useRef<HTMLElement>(null)
  const width = useWidth(box)
  const height = blocks.length * rowHeight + 20
  return (
    <section ref={box} role="group" aria-label={say.series(series)}>
      <svg className={styles.timeline} width={width} height={height} role="img" aria-label={label}>
        <line
          className={styles.now}
          x1={timelinePlaceOf(0) * width}
          x2={timelinePlaceOf(0) * width}
          y1={0}
          y2={height - 16}
        />
        {[-1, 0, 1, 2, 3, 4].map(hour => (
          <text
            key={hour}
            x={timelinePlaceOf(hour * 3600) * width}
            y={height - 3}
            className={styles.tick}
          >
            {hour === 0 ? say.now : `${hour > 0 ? '+' : ''}${hour} h`}
          </text>
        ))}
        {blocks.map((block, nth) => (
          <BlockView key={block.shortId} block={block} y={nth * rowHeight} width={width} />
        ))}
      </svg>
    </section>
  )
}

function BlockView({ block, y, width }: { block: Block; y: number; width: number }) {
  const say = useWords(words)
  const { shortId, kind, gpus, from, to, latest } = block
  const [x1, x2] = [
    timelinePlaceOf(Math.max(-shownS.back, from)) * width,
    timelinePlaceOf(to) * width,
  ]
  const what =
    kind === 'running'
      ? latest === null
        ? say.noEnd
        : say.endsIn(lengthOf(latest))
      : say.startsIn(lengthOf(from), lengthOf(to))
  return (
    <g className={kind === 'running' ? styles.running : styles.waits}>
      <title>{`${shortId}: ${what}`}</title>
      <rect x={x1} y={y + 2} width={Math.max(4, x2 - x1)} height={rowHeight - 5} rx={4} />
      <text x={Math.max(6, Math.min(x1 + 6, width - textPx))} y={y + 15}>
        {shortId} · {gpus} GPU
      </text>
    </g>
  )
}
