import { type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { type Places, placesOf } from './row-places.ts'

type Asked = {
  /** The box that scrolls. */
  box: RefObject<HTMLElement | null>
  count: number
  /** The height of each row in pixels, or an estimate if they are measured. */
  height: number
  /** Rows that are drawn above and below those in view. */
  spare: number
  /** Whether drawn rows, elements with `data-index`, are measured. */
  isMeasured?: boolean
}

type RowInView = { index: number; top: number; height: number }

type Align = 'nearest' | 'center' | 'end'
type Goal = { index: number; align: Align }

/** The rows of a long list that are worth drawing, each at its place; the list is `total` pixels high. */
export function useRows({ box, count, height, spare, isMeasured = false }: Asked) {
  const [measured, setMeasured] = useState<ReadonlyMap<number, number>>(new Map())
  const goal = useRef<Goal | null>(null)
  const places = useMemo(
    () => placesOf(count, height, isMeasured ? measured : new Map()),
    [count, height, isMeasured, measured],
  )
  const current = useRef(places)
  current.current = places
  const { view, look } = useView(box, goal, (spare * height) / 3)
  const scrollTo = useCallback(
    (index: number, align: Align = 'nearest') => {
      goal.current = { index, align }
      move(box.current, current.current, goal.current)
      look()
    },
    [box, look],
  )
  // Before the browser paints: measured rows move others, but the view should not jump.
  useLayoutEffect(() => {
    if (!box.current || !isMeasured) return
    const { next, above } = measure(box.current, places, measured)
    if (next === measured) return
    setMeasured(next)
    if (goal.current === null) box.current.scrollTop += above
  })
  useLayoutEffect(() => {
    if (goal.current !== null) move(box.current, places, goal.current)
  }, [box, places])

  const first = Math.max(0, places.indexAt(view.top) - spare)
  const end = Math.min(count, places.indexAt(view.top + view.height) + spare + 1)
  const rows = Array.from({ length: Math.max(0, end - first) }, (_, nth): RowInView => {
    const index = first + nth
    return { index, top: places.startOf(index), height: places.heightOf(index) }
  })
  return { rows, total: places.startOf(count), scrollTo }
}

/** Acts of people that scroll: a row that was scrolled to no longer has to stay in view. */
const acts = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const

/** The part of the list that is in view; `slack`: pixels that show no other rows. */
function useView(box: RefObject<HTMLElement | null>, goal: RefObject<Goal | null>, slack: number) {
  const [element, setElement] = useState<HTMLElement | null>(null)
  const [view, setView] = useState({ top: 0, height: 0 })
  const look = useCallback(() => {
    const { scrollTop: top = 0, clientHeight = 0 } = box.current ?? {}
    setView(old =>
      old.height === clientHeight && Math.abs(old.top - top) < slack
        ? old
        : { top, height: clientHeight },
    )
  }, [box, slack])
  useLayoutEffect(() => setElement(box.current))
  useLayoutEffect(() => {
    if (!element) return
    const resized = new ResizeObserver(look)
    const leave = () => {
      goal.current = null
    }
    look()
    resized.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    for (const type of acts) element.addEventListener(type, leave, { passive: true })
    return () => {
      resized.disconnect()
      element.removeEventListener('scroll', look)
      for (const type of acts) element.removeEventListener(type, leave)
    }
  }, [element, look, goal])
  return { view, look }
}

/** The heights of the drawn rows as well, and by how many pixels those above the view have grown. */
function measure(element: HTMLElement, places: Places, before: ReadonlyMap<number, number>) {
  const next = new Map(before)
  let above = 0
  for (const row of element.querySelectorAll<HTMLElement>('[data-index]')) {
    const index = Number(row.dataset.index)
    const change = row.offsetHeight - places.heightOf(index)
    if (change === 0) continue
    next.set(index, row.offsetHeight)
    if (places.startOf(index) < element.scrollTop) above += change
  }
  const isSame =
    next.size === before.size && [...next].every(([index, px]) => before.get(index) === px)
  return { next: isSame ? before : next, above }
}

function move(element: HTMLElement | null, places: Places, { index, align }: Goal): void {
  if (!element) return
  const { scrollTop, clientHeight } = element
  const top = places.startOf(index)
  const lowest = top + places.heightOf(index) - clientHeight
  if (align === 'end') element.scrollTop = lowest
  else if (align === 'center') element.scrollTop = (top + lowest) / 2
  else element.scrollTop = Math.min(top, Math.max(lowest, scrollTop))
}
