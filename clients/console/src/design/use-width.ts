import { type RefObject, useLayoutEffect, useState } from 'react'

/** The width of an element in pixels; 0 until it is known. */
export function useWidth(box: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const place = box.current
    if (!place) return
    setWidth(place.clientWidth)
    const watch = new ResizeObserver(() => setWidth(place.clientWidth))
    watch.observe(place)
    return () => watch.disconnect()
  }, [box])
  return width
}
