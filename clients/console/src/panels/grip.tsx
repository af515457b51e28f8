import { type PointerEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { panelLimits } from '../../../../schemas/panel-limits.ts'
import { clamped } from './panel.ts'
import styles from './panels.module.css'

type Size = { w: number; h: number }

/** A drag under way: the size before it, and the size at the pointer. */
type Draft = { from: Size; to: Size }

type Props = {
  box: RefObject<HTMLElement | null>
  size: Size
  rowPx: number
  /** During a drag; null once it is cancelled. Must not change between renders. */
  onDraft: (draft: Draft | null) => void
  /** Once, at the end of a drag. */
  onSize: (size: Size) => void
}

/** The size of a panel; during a drag, the size at the pointer. */
export function useDraft(size: Size) {
  const [draft, setDraft] = useState<Draft | null>(null)
  // At the end of a drag it holds until the panel has its new size, so that the old one does not show in between.
  if (draft !== null && !isSame(draft.from, size)) setDraft(null)
  return { size: draft?.to ?? size, onDraft: setDraft }
}

/** A corner that resizes its panel by whole columns and rows. The menu and the handle do the same by keyboard. */
export function Grip({ box, size, rowPx, onDraft, onSize }: Props) {
  const drag = useRef<(Draft & { x: number; y: number; columnPx: number }) | null>(null)
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
    onDraft({ from, to: next })
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
  useEffect(() => {
    // Before others, which would close what the panel is in.
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || drag.current === null) return
      event.stopPropagation()
      drag.current = null
      onDraft(null)
    }
    addEventListener('keydown', onKeyDown, { capture: true })
    return () => removeEventListener('keydown', onKeyDown, { capture: true })
  }, [onDraft])
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
