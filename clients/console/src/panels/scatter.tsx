import { useRef } from 'react'
import { useWidth } from '../design/use-width.ts'
import { visible } from '../words/visible.ts'
import { useWords } from '../words/words.ts'
import { nameOfAxis, type RunFacts } from './axis.ts'
import { hovering } from './hover.ts'
import type { PanelOf } from './panel.ts'
import styles from './panels.module.css'
import { colourAt, scaleOf } from './scale.ts'
import { shortened } from './shortened.ts'
import { words } from './words.ts'

const margin = { left: 56, right: 14, top: 10, bottom: 36 } as const

type Props = {
  panel: PanelOf<'scatter'>
  title: string
  runs: readonly RunFacts[]
  height: number
  lifted: string | null
  onHover: (runId: string | null) => void
}

/** The runs, placed by two of their values and coloured by a third. */
export function Scatter({ panel, title, runs, height, lifted, onHover }: Props) {
  const say = useWords(words)
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const scale = (axis: string, isLog = false) =>
    scaleOf(
      runs.map(run => run.valueOf(axis)),
      isLog,
    )
  const [x, y] = [scale(panel.x, panel.logX), scale(panel.y, panel.logY)]
  const colour = panel.colour === undefined ? null : scale(panel.colour)
  const right = (at: number) => margin.left + at * (width - margin.left - margin.right)
  const up = (at: number) => height - margin.bottom - at * (height - margin.top - margin.bottom)
  const dots = runs.flatMap(run => {
    const [atX, atY] = [x.placeOf(run.valueOf(panel.x)), y.placeOf(run.valueOf(panel.y))]
    return atX === null || atY === null ? [] : [{ run, x: right(atX), y: up(atY) }]
  })
  const fillOf = (run: RunFacts) =>
    colour === null || panel.colour === undefined
      ? `var(--${run.token})`
      : colourAt(colour.placeOf(run.valueOf(panel.colour)))
  const textOf = (run: RunFacts) =>
    [panel.x, panel.y, ...(panel.colour === undefined ? [] : [panel.colour])]
      .map(axis => `${nameOfAxis(axis)} ${run.valueOf(axis)}`)
      .join(', ')
  return (
    <div ref={box} data-fact="dots">
      {dots.length === 0 ? (
        <p className={styles.empty}>{say.none}</p>
      ) : (
        <svg className={styles.plot} role="img" aria-label={title} width={width} height={height}>
          {x.ticks.map(tick => (
            <g key={tick.text}>
              <line x1={right(tick.at)} x2={right(tick.at)} y1={up(0)} y2={up(1)} />
              <text x={right(tick.at)} y={height - margin.bottom + 14} textAnchor="middle">
                {visible(tick.text).slice(0, 14)}
              </text>
            </g>
          ))}
          {y.ticks.map(tick => (
            <g key={tick.text}>
              <line x1={right(0)} x2={right(1)} y1={up(tick.at)} y2={up(tick.at)} />
              <text x={margin.left - 6} y={up(tick.at) + 4} textAnchor="end">
                {visible(tick.text).slice(0, 8)}
              </text>
            </g>
          ))}
          <text x={(right(0) + right(1)) / 2} y={height - 4} textAnchor="middle">
            {shortened(visible(nameOfAxis(panel.x)), width / 7)}
          </text>
          {dots.map(dot => (
            <circle
              key={dot.run.runId}
              cx={dot.x}
              cy={dot.y}
              r={lifted === dot.run.runId ? 7 : 5}
              opacity={lifted === null || lifted === dot.run.runId ? 0.9 : 0.25}
              style={{ fill: fillOf(dot.run) }}
              {...hovering(dot.run.runId, onHover)}
            >
              <title>{`${visible(dot.run.label)}: ${textOf(dot.run)}`}</title>
            </circle>
          ))}
        </svg>
      )}
      {colour !== null && panel.colour !== undefined && (
        <p className={styles.legend}>
          {visible(nameOfAxis(panel.colour))} {colour.ticks[0]?.text}
          <span className={styles.ramp} /> {colour.ticks.at(-1)?.text}
        </p>
      )}
    </div>
  )
}
