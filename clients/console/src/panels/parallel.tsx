import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import { Button } from '../design/button.tsx'
import { useWidth } from '../design/use-width.ts'
import { shortNumber } from '../words/amounts.ts'
import { visible } from '../words/visible.ts'
import { useWords } from '../words/words.ts'
import { nameOfAxis, type RunFacts } from './axis.ts'
import { hovering } from './hover.ts'
import type { PanelOf } from './panel.ts'
import styles from './panels.module.css'
import { colourAt, isWide, type Scale, scaleOf } from './scale.ts'
import { shortened } from './shortened.ts'
import { words } from './words.ts'

/** From an axis to its labels: past the handles, which are 7 wide on either side. */
const labelPx = 16
/** About the width of a character. */
const characterPx = 7
const margin = { side: 40, top: 26, bottom: 12 } as const
type Bounds = { low: number; high: number }
const all: Bounds = { low: 0, high: 1 }

type Props = {
  panel: PanelOf<'parallel'>
  title: string
  runs: readonly RunFacts[]
  height: number
  lifted: string | null
  onHover: (runId: string | null) => void
  /** Shows these runs alone. */
  onOnly: ((runIds: readonly string[]) => void) | null
}

/** A line for each run across axes of its values. Bounds on the axes choose runs. */
export function Parallel({ panel, title, runs, height, lifted, onHover, onOnly }: Props) {
  const say = useWords(words)
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const [bounds, setBounds] = useState<Readonly<Record<string, Bounds>>>({})
  const axes = [...new Set(panel.axes)].map((name, nth, { length }) => ({
    name,
    x: margin.side + (nth / Math.max(1, length - 1)) * Math.max(0, width - 2 * margin.side),
    room: Math.max(0, width - 2 * margin.side) / Math.max(1, length - 1),
    scale: axisScale(name, runs),
    bounds: bounds[name] ?? all,
  }))
  const colour = panel.colour === undefined ? null : axisScale(panel.colour, runs)
  const up = (at: number) => height - margin.bottom - at * (height - margin.top - margin.bottom)
  const lines = runs.flatMap(run => {
    const places = axes.flatMap(({ name, scale, x, bounds: { low, high } }) => {
      const at = scale.placeOf(run.valueOf(name))
      return at === null ? [] : [{ x, at, isInside: at >= low && at <= high }]
    })
    if (places.length < 2) return []
    const isChosen = places.length === axes.length && places.every(({ isInside }) => isInside)
    return [{ run, places, isChosen }]
  })
  const isBrushed = axes.some(axis => axis.bounds !== all)
  const chosen = lines.filter(line => line.isChosen || !isBrushed)
  const strokeOf = (run: RunFacts) =>
    colour === null || panel.colour === undefined
      ? `var(--${run.token})`
      : colourAt(colour.placeOf(run.valueOf(panel.colour)))
  const opacityOf = (runId: string, isChosen: boolean) =>
    lifted === null ? (isChosen || !isBrushed ? 0.85 : 0.08) : lifted === runId ? 1 : 0.12
  return (
    <div ref={box}>
      {lines.length === 0 ? (
        <p className={styles.empty}>{say.none}</p>
      ) : (
        <>
          <svg
            className={styles.plot}
            role="group"
            aria-label={title}
            width={width}
            height={height}
          >
            {lines.map(({ run, places, isChosen }) => (
              <path
                key={run.runId}
                d={places
                  .map(({ x, at }, nth) => `${nth === 0 ? 'M' : 'L'}${x},${up(at)}`)
                  .join('')}
                opacity={opacityOf(run.runId, isChosen)}
                style={{ stroke: strokeOf(run) }}
                {...hovering(run.runId, onHover)}
              >
                <title>{visible(run.label)}</title>
              </path>
            ))}
            {axes.map(axis => (
              <AxisLine
                key={axis.name}
                {...axis}
                up={up}
                isLast={axis === axes.at(-1)}
                onBounds={next => setBounds({ ...bounds, [axis.name]: next })}
              />
            ))}
          </svg>
          <Chosen
            text={say.dots(chosen.length, runs.length)}
            onClear={isBrushed ? () => setBounds({}) : null}
            onOnly={onOnly && (() => onOnly(chosen.map(({ run }) => run.runId)))}
          />
        </>
      )}
    </div>
  )
}

type ChosenProps = { text: string; onClear: (() => void) | null; onOnly: (() => void) | null }

/** How many runs the bounds choose, and what can be done with these. */
function Chosen({ text, onClear, onOnly }: ChosenProps) {
  const say = useWords(words)
  return (
    <p className={styles.legend}>
      <span role="status">{text}</span>
      {onClear && (
        <Button kind="quiet" onClick={onClear}>
          {say.clear}
        </Button>
      )}
      {onClear && onOnly && (
        <Button
          kind="quiet"
          onClick={() => {
            onClear()
            onOnly()
          }}
        >
          {say.only}
        </Button>
      )}
    </p>
  )
}

function axisScale(axis: string, runs: readonly RunFacts[]): Scale {
  const values = runs.map(run => run.valueOf(axis))
  return scaleOf(values, isWide(values))
}

const mostTick = 9

type AxisProps = {
  name: string
  x: number
  scale: Scale
  bounds: Bounds
  /** From one axis to the next, in pixels. */
  room: number
  /** Its labels are on the left, where there is room. */
  isLast: boolean
  up: (at: number) => number
  onBounds: (bounds: Bounds) => void
}

function AxisLine({ name, x, scale, bounds, room, isLast, up, onBounds }: AxisProps) {
  const say = useWords(words)
  const title = visible(nameOfAxis(name))
  const { low, high } = bounds
  // A label that does not fit would cover the next axis, and a shortened number would be another number.
  const ticks = scale.ticks
    .map(({ at, text }) => ({ at, text: shortened(visible(text), mostTick) }))
    .filter(({ text }) => text.length * characterPx <= room - labelPx)
  const set = {
    low: (at: number) => ({ low: Math.min(at, high), high }),
    high: (at: number) => ({ low, high: Math.max(at, low) }),
  }
  return (
    <g>
      <line x1={x} x2={x} y1={up(0)} y2={up(1)} />
      <text x={x} y={12} textAnchor="middle">
        {shortened(title, Math.max(3, Math.min(16, Math.floor(room / characterPx))))}
        <title>{title}</title>
      </text>
      {ticks.map(tick => (
        <text
          key={tick.text}
          x={isLast ? x - labelPx : x + labelPx}
          y={up(tick.at) + 4}
          textAnchor={isLast ? 'end' : 'start'}
        >
          {tick.text}
        </text>
      ))}
      {bounds !== all && (
        <rect
          className={styles.brush}
          x={x - 6}
          width={12}
          y={up(high)}
          height={Math.max(0, up(low) - up(high))}
        />
      )}
      {(['low', 'high'] as const).map(end => (
        <Bound
          key={end}
          label={end === 'low' ? say.atLeast(title) : say.atMost(title)}
          at={bounds[end]}
          x={x}
          y={up(bounds[end])}
          onMove={at => onBounds(set[end](Math.min(1, Math.max(0, at))))}
          placeOf={y => (up(0) - y) / (up(0) - up(1))}
        />
      ))}
    </g>
  )
}

type BoundProps = {
  label: string
  at: number
  x: number
  y: number
  onMove: (at: number) => void
  placeOf: (y: number) => number
}

const stepBy = 0.05

/** The end of a brush: dragged, or moved by the arrow keys. */
function Bound({ label, at, x, y, onMove, placeOf }: BoundProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowUp: stepBy, ArrowRight: stepBy, ArrowDown: -stepBy, ArrowLeft: -stepBy }[
      event.key
    ]
    if (by === undefined) return
    event.preventDefault()
    onMove(at + by)
  }
  const onPointerMove = (event: PointerEvent<SVGRectElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    const top = event.currentTarget.ownerSVGElement?.getBoundingClientRect().top ?? 0
    onMove(placeOf(event.clientY - top))
  }
  return (
    <rect
      className={styles.bound}
      x={x - 7}
      y={y - 3}
      width={14}
      height={6}
      rx={2}
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-orientation="vertical"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Number(shortNumber(at * 100, 3))}
      onKeyDown={onKeyDown}
      onPointerDown={event => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
    />
  )
}
