import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react'
import styles from './menu.module.css'
import { usePart } from './use-part.ts'

type Props = {
  /** The name of the button for screen readers. */
  label: string
  /** The content of the button. */
  shown: ReactNode
  /** The button has no border, for places with many of them. */
  isQuiet?: boolean
  /** The class of the button, if it looks different. */
  className?: string | undefined
  /** Which edge of the button the list keeps to; default the end. */
  align?: 'start' | 'end'
  /** The pointer or the focus has reached the button: time to load what the items open. */
  onNear?: () => void
  children: ReactNode
}

const load = () => import('./menu-list.tsx')

/**
 * A button with a menu: arrows and first letters move, Escape closes and returns the focus to the button. The code of the list
 * is loaded when the pointer or the focus reaches the button.
 */
export function Menu({ label, shown, isQuiet, className, align = 'end', onNear, children }: Props) {
  const [isNear, setNear] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  const list = usePart(isNear || isOpen ? load : null)
  const beNear = () => {
    setNear(true)
    onNear?.()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown' || isOpen) return
    event.preventDefault()
    setOpen(true)
  }
  return (
    <span className={styles.place}>
      <button
        ref={button}
        id={id}
        type="button"
        className={className ?? (isQuiet ? styles.quiet : styles.button)}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPointerEnter={beNear}
        onFocus={beNear}
        onKeyDown={onKeyDown}
        onClick={() => setOpen(!isOpen)}
      >
        {shown}
      </button>
      {list && (
        <list.MenuList {...{ button, isOpen, setOpen, align }} labelledBy={id}>
          {children}
        </list.MenuList>
      )}
    </span>
  )
}

type ItemProps = {
  isDangerous?: boolean
  /** Why it cannot be chosen now. */
  unless?: string | false
  onSelect: () => void
  children: ReactNode
}

/** Inside a `Menu`, whose code has been loaded by then. */
export function MenuItem(props: ItemProps) {
  const list = usePart(load)
  return list && <list.Item {...props} />
}

/** Items with a title above them. */
export function MenuGroup(props: { title: string; children: ReactNode }) {
  const list = usePart(load)
  return list && <list.Group {...props} />
}

/** A link to another page. */
export function MenuLink({ children }: { children: ReactNode }) {
  const list = usePart(load)
  return list && <list.LinkItem>{children}</list.LinkItem>
}
