import { type ReactNode, useRef, useState } from 'react'
import { Button } from './button.tsx'
import styles from './menu.module.css'
import { usePart } from './use-part.ts'

type Props = {
  /** The text of the button, which also names the popover. */
  label: string
  /** The class of the popover. */
  className?: string | undefined
  children: (close: () => void) => ReactNode
}

const load = () => import('./popover-content.tsx')

/** A button that opens a small form below it. Its code is loaded when the pointer or the focus reaches the button. */
export function Popover({ label, className, children }: Props) {
  const [isNear, setNear] = useState(false)
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const part = usePart(isNear || isOpen ? load : null)
  return (
    <span className={styles.place}>
      <Button
        ref={button}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPointerEnter={() => setNear(true)}
        onFocus={() => setNear(true)}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
      </Button>
      {part && (
        <part.PopoverContent {...{ button, isOpen, setOpen, label, className }}>
          {children(() => setOpen(false))}
        </part.PopoverContent>
      )}
    </span>
  )
}
