import {
  cloneElement,
  type FocusEvent,
  type PointerEvent,
  type ReactElement,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import styles from './tip.module.css'

type Trigger = {
  onPointerEnter?: (event: PointerEvent<HTMLElement>) => void
  onPointerLeave?: (event: PointerEvent<HTMLElement>) => void
  onFocus?: (event: FocusEvent<HTMLElement>) => void
  onBlur?: (event: FocusEvent<HTMLElement>) => void
  'aria-describedby'?: string | undefined
}

type Props = {
  text: ReactNode
  /** It repeats the name of the element, which needs no description then. */
  isName?: boolean
  /** Until it appears on hover, in milliseconds. */
  delayMs?: number
  /** What can be focused. */
  children: ReactElement<Trigger>
}

const usualDelayMs = 300

/** A short text on hover and on focus, above everything else on the page; Escape closes it. */
export function Tip({ text, isName = false, delayMs = usualDelayMs, children }: Props) {
  const [over, setOver] = useState<HTMLElement | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const id = useId()
  const close = () => {
    clearTimeout(timer.current)
    setOver(null)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const trigger = cloneElement(children, {
    ...(over && !isName && { 'aria-describedby': id }),
    onPointerEnter: event => {
      const at = event.currentTarget
      if (delayMs === 0) setOver(at)
      else timer.current = setTimeout(() => setOver(at), delayMs)
      children.props.onPointerEnter?.(event)
    },
    onPointerLeave: event => {
      close()
      children.props.onPointerLeave?.(event)
    },
    onFocus: event => {
      // A click focuses as well, and needs no explanation.
      if (event.currentTarget.matches(':focus-visible')) setOver(event.currentTarget)
      children.props.onFocus?.(event)
    },
    onBlur: event => {
      close()
      children.props.onBlur?.(event)
    },
  })
  return (
    <>
      {trigger}
      {over && (
        <Text id={id} over={over} onClose={close}>
          {text}
        </Text>
      )}
    </>
  )
}

type TextProps = { id: string; over: HTMLElement; onClose: () => void; children: ReactNode }

function Text({ id, over, onClose, children }: TextProps) {
  const box = useRef<HTMLSpanElement>(null)
  usePlace(box, over)
  const close = useRef(onClose)
  close.current = onClose
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') close.current()
    }
    const onMove = () => close.current()
    document.addEventListener('keydown', onKey)
    addEventListener('scroll', onMove, { capture: true, passive: true })
    return () => {
      document.removeEventListener('keydown', onKey)
      removeEventListener('scroll', onMove, { capture: true })
    }
  }, [])
  return (
    <span ref={box} id={id} role="tooltip" popover="manual" className={styles.tip}>
      {children}
    </span>
  )
}

const gap = 4
const margin = 8

/** Above its element, or below where there is no room, and always inside the window. */
function usePlace(box: RefObject<HTMLElement | null>, over: HTMLElement): void {
  useLayoutEffect(() => {
    const tip = box.current
    if (tip === null) return
    tip.showPopover()
    const [at, { width, height }] = [over.getBoundingClientRect(), tip.getBoundingClientRect()]
    const middle = at.left + at.width / 2 - width / 2
    const left = Math.max(margin, Math.min(innerWidth - width - margin, middle))
    const top = at.top - height - gap
    tip.style.left = `${left}px`
    tip.style.top = `${top < margin ? at.bottom + gap : top}px`
  }, [box, over])
}
