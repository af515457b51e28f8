import { DropdownMenu } from 'radix-ui'
import { createContext, type ReactNode, type RefObject, useContext, useId, useRef } from 'react'
import { isOn } from './is-on.ts'
import styles from './menu.module.css'

type Pending = { current: (() => void) | null }
const Chosen = createContext<Pending>({ current: null })

type Props = {
  button: RefObject<HTMLButtonElement | null>
  labelledBy: string
  isOpen: boolean
  align: 'start' | 'end'
  setOpen: (isOpen: boolean) => void
  children: ReactNode
}

/** The list of a menu, below its button. */
export function MenuList({ button, labelledBy, isOpen, setOpen, align, children }: Props) {
  const chosen = useRef<(() => void) | null>(null)
  // Only once the menu is gone, so that a dialog returns the focus to the button.
  const act = (event: Event) => {
    const todo = chosen.current
    event.preventDefault()
    chosen.current = null
    // A click elsewhere has already moved the focus.
    if (todo !== null || document.activeElement === document.body) button.current?.focus()
    todo?.()
  }
  return (
    <DropdownMenu.Root modal={false} open={isOpen} onOpenChange={setOpen}>
      {/* The button was there before this code; the list is placed by a part of the same size. */}
      <DropdownMenu.Trigger asChild>
        <span className={styles.anchor} tabIndex={-1} aria-hidden="true" />
      </DropdownMenu.Trigger>
      {/* Without a portal, the menu belongs to the landmark of its button. */}
      <DropdownMenu.Content
        className={styles.menu}
        align={align}
        sideOffset={4}
        collisionPadding={8}
        aria-labelledby={labelledBy}
        onInteractOutside={event => {
          // The button itself closes the menu.
          if (isOn(event, button)) event.preventDefault()
        }}
        onCloseAutoFocus={act}
      >
        <Chosen value={chosen}>{children}</Chosen>
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  )
}

type ItemProps = {
  isDangerous?: boolean
  unless?: string | false
  onSelect: () => void
  children: ReactNode
}

export function Item({ isDangerous, unless = false, onSelect, children }: ItemProps) {
  const chosen = useContext(Chosen)
  return (
    <DropdownMenu.Item
      className={unless ? styles.off : isDangerous ? styles.danger : undefined}
      // It stays among the items that the arrow keys reach, so that the reason can be read.
      aria-disabled={unless ? true : undefined}
      onSelect={event => {
        if (unless) event.preventDefault()
        else chosen.current = onSelect
      }}
    >
      {children}
      {unless && <small className={styles.reason}>{unless}</small>}
    </DropdownMenu.Item>
  )
}

export function Group({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <DropdownMenu.Group className={styles.group} aria-labelledby={id}>
      <DropdownMenu.Label id={id} className={styles.title}>
        {title}
      </DropdownMenu.Label>
      {children}
    </DropdownMenu.Group>
  )
}

export const LinkItem = ({ children }: { children: ReactNode }) => (
  <DropdownMenu.Item asChild>{children}</DropdownMenu.Item>
)
