import type uPlot from 'uplot'
import { lengthOf, shortNumber } from '../words/amounts.ts'
import { visible } from '../words/visible.ts'
import { colourOf, curveOf } from './colours.ts'
import { type Reading, readingsAt } from './nearest.ts'
import type { Line, XAxis } from './series.ts'
import { linePart, seriesOfLine } from './uplot-series.ts'

/** Rows of the tooltip; the number of the others follows. */
const shown = 12
/** A line nearer to the cursor than this is meant by it, in pixels. */
const nearPx = 14

type Ref<T> = { current: T }
type Drawn = { lines: readonly Line[]; x: XAxis; xKey: string | null }
type Actions = { hover: (runId: string | null) => void }

/**
 * The values of a chart's lines at the cursor, the nearest line first. A click keeps them in place until the next one. Reports the
 * run whose line is under the cursor.
 */
export function tip(drawing: Ref<Drawn>, { hover }: Actions): uPlot.Plugin {
  const box = document.createElement('div')
  box.className = 'forge-tip'
  let isPinned = false
  let hovered: string | null = null
  const report = (runId: string | null) => {
    if (runId === hovered) return
    hovered = runId
    hover(runId)
  }
  const follow = (plot: uPlot) => {
    if (isPinned) return
    const { left = -1, top = -1 } = plot.cursor
    const found = left < 0 || !isMeant(plot) ? [] : nearestFirst(plot, drawing.current, left, top)
    const [first] = found
    report(first && first.distance <= nearPx ? first.line.runId : null)
    box.hidden = found.length === 0
    if (first === undefined) return
    fill(box, found, drawing.current)
    place(box, plot, left)
  }
  return {
    hooks: {
      init: plot => {
        plot.over.append(box)
        box.hidden = true
        plot.over.addEventListener('click', () => {
          isPinned = !isPinned && !box.hidden
          box.classList.toggle('pinned', isPinned)
          if (!isPinned) follow(plot)
        })
      },
      setCursor: follow,
      destroy: () => report(null),
    },
  }
}

/** The cursors of all charts move together, but only one chart has the mouse or the focus. */
const isMeant = ({ root }: uPlot): boolean =>
  root.matches(':hover') || root.parentElement === document.activeElement

type Found = Reading & { distance: number }

function nearestFirst(plot: uPlot, { lines }: Drawn, left: number, top: number): Found[] {
  return readingsAt(lines, plot.posToVal(left, 'x'))
    .filter(({ nth }) => plot.series[nth * seriesOfLine + 1 + linePart]?.show !== false)
    .map(one => ({ ...one, distance: Math.abs(plot.valToPos(one.value, 'y') - top) }))
    .sort((a, b) => a.distance - b.distance)
}

function fill(box: HTMLElement, found: readonly Found[], { x, xKey }: Drawn): void {
  const [first] = found
  const head = document.createElement('strong')
  head.textContent = first === undefined ? '' : placeText(xKey === null ? x : 'step', first.x)
  const rows = found.slice(0, shown).map(({ nth, line, value }) => {
    const row = document.createElement('span')
    const dot = document.createElement('i')
    dot.style.background = line.stroke ? colourOf(line.stroke.token) : curveOf(nth)
    const name = document.createElement('span')
    name.textContent = visible(line.label)
    const number = document.createElement('b')
    number.textContent = shortNumber(value)
    row.append(dot, name, number)
    return row
  })
  const more = document.createElement('em')
  more.textContent = found.length > shown ? `+ ${found.length - shown}` : ''
  box.replaceChildren(head, ...rows, ...(more.textContent === '' ? [] : [more]))
}

const placeText = (x: XAxis, at: number): string =>
  x === 'step'
    ? shortNumber(at, 12)
    : x === 'time'
      ? new Date(at * 1000).toLocaleString()
      : lengthOf(at)

/** To the right of the cursor, or to its left where there is no room. */
function place(box: HTMLElement, plot: uPlot, left: number): void {
  const isLeft = left > plot.over.clientWidth / 2
  box.style.left = isLeft ? 'auto' : `${left + 14}px`
  box.style.right = isLeft ? `${plot.over.clientWidth - left + 14}px` : 'auto'
}
