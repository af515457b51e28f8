import { type DragEvent, type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { panelLimits } from '../../../../schemas/panel-limits.ts'
import type { Panel } from '../../../../schemas/workspace.ts'
import { MenuItem } from '../design/menu.tsx'
import { usePart } from '../design/use-part.ts'
import { visible } from '../words/visible.ts'
import { useWords } from '../words/words.ts'
import type { Names } from './editor.tsx'
import { Grip, useDraft } from './grip.tsx'
import { clamped, moved, sizeOf } from './panel.ts'
import styles from './panels.module.css'
import { titleOf } from './titles.ts'
import { words } from './words.ts'

export type Drawn = { panel: Panel; title: string; height: number; actions: ReactNode }

type Props = {
  panels: readonly Panel[]
  onChange: (panels: Panel[]) => void
  names: Names
  draw: (drawn: Drawn) => ReactNode
}

const rowHeight = 240
/** The head of a panel, and the gap between rows. */
const betweenRows = 62

const loadEditor = () => import('./editor.tsx')

/** The panels that somebody added, in a grid: moved and resized with the mouse or the keyboard. */
export function Board({ panels, onChange, names, draw }: Props) {
  const say = useWords(words)
  const [edited, setEdited] = useState<number | null>(null)
  const editor = usePart(edited === null ? null : loadEditor)
  const [dragged, setDragged] = useState<number | null>(null)
  const keys = keysOf(panels.map(panel => titleOf(panel, say)))
  const replace = (nth: number, panel: Panel) =>
    onChange(panels.map((one, at) => (at === nth ? panel : one)))
  return (
    <section className={styles.section} aria-label={say.pinned}>
      <h2>{say.pinned}</h2>
      <div className={styles.grid}>
        {panels.map((panel, nth) => (
          <Cell
            key={keys[nth]}
            {...{ panel, nth, panels, draw, dragged }}
            onEdit={() => setEdited(nth)}
            onReplace={next => replace(nth, next)}
            onMove={(from, to) => onChange(moved(panels, from, to))}
            onRemove={() => onChange(panels.filter((_, at) => at !== nth))}
            onDrag={setDragged}
          />
        ))}
      </div>
      {edited !== null && editor && (
        <editor.Editor
          panel={panels[edited] ?? null}
          names={names}
          onClose={() => setEdited(null)}
          onSave={panel => {
            setEdited(null)
            replace(edited, panel)
          }}
        />
      )}
    </section>
  )
}

/** Panels have no identity but their titles, which need not differ. */
const keysOf = (titles: readonly string[]): string[] =>
  titles.map((title, nth) => `${titles.slice(0, nth).filter(one => one === title).length} ${title}`)

type CellProps = Pick<Props, 'panels' | 'draw'> & {
  panel: Panel
  nth: number
  dragged: number | null
  onEdit: () => void
  onReplace: (panel: Panel) => void
  onMove: (from: number, to: number) => void
  onRemove: () => void
  onDrag: (nth: number | null) => void
}

function Cell(props: CellProps) {
  const { panel, nth, panels, draw, dragged, onEdit, onReplace, onMove, onRemove, onDrag } = props
  const say = useWords(words)
  const box = useRef<HTMLDivElement>(null)
  const [isOver, setOver] = useState(false)
  const title = titleOf(panel, say)
  const { size, onDraft } = useDraft(sizeOf(panel))
  const { w, h } = size
  const resize = (byW: number, byH: number) =>
    onReplace({
      ...panel,
      w: clamped(w + byW, 2, panelLimits.columns),
      h: clamped(h + byH, 1, panelLimits.rows),
    })
  const move = (by: number) => onMove(nth, clamped(nth + by, 0, panels.length - 1))
  const dropping = {
    onDragOver: (event: DragEvent) => {
      if (dragged === null) return
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault()
      setOver(false)
      if (dragged !== null) onMove(dragged, nth)
    },
  }
  return (
    <div
      ref={box}
      className={`${styles.cell} ${styles[`w${w}`]} ${isOver ? styles.over : ''}`}
      {...dropping}
    >
      {draw({
        ...{ panel, title, height: rowHeight * h + betweenRows * (h - 1) },
        actions: (
          <>
            <MenuItem onSelect={onEdit}>{say.edit}</MenuItem>
            {nth > 0 && <MenuItem onSelect={() => move(-1)}>{say.earlier}</MenuItem>}
            {nth < panels.length - 1 && <MenuItem onSelect={() => move(1)}>{say.later}</MenuItem>}
            {w < panelLimits.columns && (
              <MenuItem onSelect={() => resize(1, 0)}>{say.wider}</MenuItem>
            )}
            {w > 2 && <MenuItem onSelect={() => resize(-1, 0)}>{say.narrower}</MenuItem>}
            {h < panelLimits.rows && (
              <MenuItem onSelect={() => resize(0, 1)}>{say.taller}</MenuItem>
            )}
            {h > 1 && <MenuItem onSelect={() => resize(0, -1)}>{say.lower}</MenuItem>}
            <MenuItem isDangerous onSelect={onRemove}>
              {say.remove}
            </MenuItem>
          </>
        ),
      })}
      <button
        type="button"
        draggable
        className={styles.handle}
        aria-label={say.move(visible(title))}
        title={say.moveHint}
        onDragStart={event => {
          onDrag(nth)
          event.dataTransfer.effectAllowed = 'move'
          event.dataTransfer.setData('text/plain', title)
          if (box.current) event.dataTransfer.setDragImage(box.current, 20, 10)
        }}
        onDragEnd={() => onDrag(null)}
        onKeyDown={event => onHandleKey(event, { move, resize })}
      >
        <span aria-hidden="true">⠿</span>
      </button>
      <span role="status" className="visually-hidden">
        {say.at(visible(title), nth + 1, panels.length)}
      </span>
      <Grip
        box={box}
        size={size}
        rowPx={rowHeight + betweenRows}
        onDraft={onDraft}
        onSize={next => onReplace({ ...panel, ...next })}
      />
    </div>
  )
}

type Acts = { move: (by: number) => void; resize: (byW: number, byH: number) => void }

function onHandleKey(event: KeyboardEvent, { move, resize }: Acts): void {
  const [x, y] = {
    ...{ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] },
  }[event.key] ?? [0, 0]
  if (x === 0 && y === 0) return
  event.preventDefault()
  if (event.shiftKey) resize(x ?? 0, y ?? 0)
  else move((x ?? 0) + (y ?? 0))
}
