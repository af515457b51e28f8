import { DropdownMenu } from 'radix-ui'
import { createContext, type ReactNode, useContext, useRef } from 'react'
import styles from './menu.module.css'

type Props = {
  /** The name of the button for screen readers. */
  label: string
  /** The content of the button. */
  shown: ReactNode
  children: ReactNode
}

type Pending = { current: (() => void) | null }
const Chosen = createContext<Pending>({ current: null })

/** A button with a menu: arrows and first letters move, Escape closes and returns the focus to the button. */
export function Menu({ label, shown, children }: Props) {
  const chosen = useRef<(() => void) | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  // Only once the menu is gone, so that a dialog returns the focus to the button.
  const act = (event: Event) => {
    const todo = chosen.current
    if (todo === null) return
    event.preventDefault()
    chosen.current = null
    button.current?.focus()
    todo()
  }
  return (
    <DropdownMenu.Root modal={false}>
      {/* Without a portal, the menu belongs to the landmark of its button. */}
      <DropdownMenu.Trigger ref={button} className={styles.button} aria-label={label}>
        {shown}
      </DropdownMenu.Trigger>
      <DropdownMenu.Content
        className={styles.menu}
        align="end"
        sideOffset={4}
        collisionPadding={8}
        onCloseAutoFocus={act}
      >
        <Chosen value={chosen}>{children}</Chosen>
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  )
}

type ItemProps = { isDangerous?: boolean; onSelect: () => void; children: ReactNode }

export function MenuItem({ isDangerous, onSelect, children }: ItemProps) {
  const chosen = useContext(Chosen)
  return (
    <DropdownMenu.Item
      className={isDangerous ? styles.danger : undefined}
      onSelect={() => {
        chosen.current = onSelect
      }}
    >
      {children}
    </DropdownMenu.Item>
  )
}

/** A link to another page. */
export const MenuLink = ({ children }: { children: ReactNode }) => (
  <DropdownMenu.Item asChild>{children}</DropdownMenu.Item>
)
