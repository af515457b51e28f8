import type uPlot from 'uplot'
import { pannedBy, type Range } from './zoom.ts'

/** Whether a press of the mouse begins a pan: Shift with the first button, or the middle button. */
export const isPan = ({ button, shiftKey }: Pick<MouseEvent, 'button' | 'shiftKey'>): boolean =>
  button === 1 || (button === 0 && shiftKey)

/** The click that ends a pan means nothing else. */
const ignore = (event: Event) => event.stopImmediatePropagation()

type Actions = {
  isLog: () => boolean
  /** The range at the mouse; the chart alone follows. */
  onMove: (range: NonNullable<Range>) => void
  /** The mouse was released at a range, which applies to all charts. */
  onEnd: (range: NonNullable<Range>) => void
}

/** Moves the visible part of the axis with the mouse. */
export function pan({ isLog, onMove, onEnd }: Actions): uPlot.Plugin {
  let release = () => {}
  return {
    hooks: {
      init: plot => {
        const { over } = plot
        over.addEventListener('pointerdown', event => {
          const { min, max } = plot.scales.x ?? {}
          if (!isPan(event) || min == null || max == null) return
          // The middle button would scroll the page.
          event.preventDefault()
          over.setPointerCapture(event.pointerId)
          over.style.cursor = 'grabbing'
          const begun = { from: min, to: max }
          let range = begun
          const move = ({ clientX }: PointerEvent) => {
            const share = (event.clientX - clientX) / over.clientWidth
            range = pannedBy(begun, share, isLog())
            onMove(range)
          }
          const end = () => {
            release()
            if (range === begun) return
            over.addEventListener('click', ignore, { capture: true, once: true })
            onEnd(range)
          }
          release = () => {
            over.style.cursor = ''
            over.removeEventListener('pointermove', move)
            over.removeEventListener('pointerup', end)
            over.removeEventListener('pointercancel', end)
          }
          over.addEventListener('pointermove', move)
          over.addEventListener('pointerup', end)
          over.addEventListener('pointercancel', end)
        })
        // Chromium scrolls by the middle button of the mouse event, whatever became of the pointer event.
        over.addEventListener('mousedown', event => {
          if (event.button === 1) event.preventDefault()
        })
      },
      destroy: () => release(),
    },
  }
}
