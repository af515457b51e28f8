import type { RefObject } from 'react'

/** Whether an event happened on an element or in it. */
export const isOn = (event: Event, element: RefObject<HTMLElement | null>): boolean =>
  event.target instanceof Node && element.current?.contains(event.target) === true
