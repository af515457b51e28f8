import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { panelLimits } from '../../../../schemas/panel-limits.ts'
import { clamped } from './panel.ts'
import styles from './panels.module.css'

type Size = { w: number; h: number }

type Props = {
  box: RefObject<HTMLElement | null>
  size: Size
  rowPx: number
  /** During a drag; null once it is cancelled. */
  onDraft: (size: Size | null) => void
  /** Once, at the end of a drag. */
  onSize: (size: Size) => void
}

/** The size of a panel: during a drag the one that it would have. */
export function useDraft({ w, h }: Size) {
  const [draft, setDraft] = useState<Size | null>(null)
  // At the end of a drag it holds until the panel has its new size, so that the old one does not show in between.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new size ends it.
  useEffect(() => setDraft(null), [w, h])
  return { size: draft ?? { w, h }, onDraft: setDraft }
}

/** A corner that resizes its panel by whole columns and rows. The menu and the handle do the same by keyboard. */
export function Grip({ box, size, rowPx, onDraft, onSize }: Props) {
  const drag = useRef<{ x: number; y: number; columnPx: number; from: Size; to: Size } | null>(null)
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    const width = box.current?.clientWidth ?? 0
    event.currentTarget.setPointerCapture(event.pointerId)
    const at = { x: event.clientX, y: event.clientY }
    drag.current = { ...at, columnPx: width / size.w, from: size, to: size }
  }
  const onPointerMove = (event: PointerEvent) => {
    if (drag.current === null) return
    const { x, y, columnPx, from, to } = drag.current
    const w = from.w + (event.clientX - x) / Math.max(1, columnPx)
    const next = {
      w: clamped(w, 2, panelLimits.columns),
      h: clamped(from.h + (event.clientY - y) / rowPx, 1, panelLimits.rows),
    }
    if (isSame(next, to)) return
    drag.current.to = next
    onDraft(next)
  }
  const onPointerUp = () => {
    if (drag.current === null) return
    const { from, to } = drag.current
    drag.current = null
    if (isSame(from, to)) onDraft(null)
    else onSize(to)
  }
  // The browser also ends the capture after each pointerup, when there is no drag any more.
  const cancel = () => {
    if (drag.current === null) return
    drag.current = null
    onDraft(null)
  }
  return (
    <span
      className={styles.grip}
      aria-hidden="true"
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={cancel}
      onLostPointerCapture={cancel}
    />
  )
}

const isSame = (a: Size, b: Size): boolean => a.w === b.w && a.h === b.h
