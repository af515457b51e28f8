import { type PointerEvent, type RefObject, useRef } from 'react'
import { panelLimits } from '../../../../schemas/panel-limits.ts'
import { clamped } from './panel.ts'
import styles from './panels.module.css'

type Size = { w: number; h: number }

type Props = {
  box: RefObject<HTMLElement | null>
  size: Size
  rowPx: number
  onSize: (size: Size) => void
}

/** A corner that resizes its panel by whole columns and rows. The menu and the handle do the same by keyboard. */
export function Grip({ box, size, rowPx, onSize }: Props) {
  const start = useRef<{ x: number; y: number; columnPx: number; size: Size } | null>(null)
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    const width = box.current?.clientWidth ?? 0
    event.currentTarget.setPointerCapture(event.pointerId)
    start.current = { x: event.clientX, y: event.clientY, columnPx: width / size.w, size }
  }
  const onPointerMove = (event: PointerEvent) => {
    if (start.current === null) return
    const { x, y, columnPx, size: before } = start.current
    const w = before.w + (event.clientX - x) / Math.max(1, columnPx)
    const next = {
      w: clamped(w, 2, panelLimits.columns),
      h: clamped(before.h + (event.clientY - y) / rowPx, 1, panelLimits.rows),
    }
    if (next.w !== size.w || next.h !== size.h) onSize(next)
  }
  return (
    <span
      className={styles.grip}
      aria-hidden="true"
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        start.current = null
      }}
    />
  )
}
