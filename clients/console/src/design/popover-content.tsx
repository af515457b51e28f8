import { Popover } from 'radix-ui'
import type { ReactNode, RefObject } from 'react'
import { isOn } from './is-on.ts'
import styles from './menu.module.css'

type Props = {
  button: RefObject<HTMLButtonElement | null>
  isOpen: boolean
  setOpen: (isOpen: boolean) => void
  label: string
  className: string | undefined
  children: ReactNode
}

/** What a popover shows, below its button. */
export function PopoverContent({ button, isOpen, setOpen, label, className, children }: Props) {
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      {/* The button was there before this code; the content is placed by a part of the same size. */}
      <Popover.Anchor asChild>
        <span className={styles.anchor} aria-hidden="true" />
      </Popover.Anchor>
      <Popover.Portal>
        <Popover.Content
          className={className}
          aria-label={label}
          align="end"
          sideOffset={4}
          collisionPadding={8}
          onInteractOutside={event => {
            // The button itself closes it.
            if (isOn(event, button)) event.preventDefault()
          }}
          onCloseAutoFocus={event => {
            event.preventDefault()
            // A click elsewhere has already moved the focus.
            if (document.activeElement === document.body) button.current?.focus()
          }}
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
