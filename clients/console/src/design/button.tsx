import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import styles from './button.module.css'
import { Tip } from './tip.tsx'

type Kind = 'main' | 'plain' | 'quiet' | 'danger'

type Props = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> & {
  kind?: Kind
  /** Why it cannot be pressed now; it stays in the tab order, so that the reason can be read. */
  unless?: string | null | false
  /** True while its effect is under way. */
  busy?: boolean
  ref?: Ref<HTMLButtonElement>
  children: ReactNode
}

export function Button({ kind = 'plain', unless, busy, onClick, children, ...rest }: Props) {
  const isOff = Boolean(unless) || busy === true
  const button = (
    <button
      type="button"
      {...rest}
      className={`${styles.button} ${styles[kind]} ${rest.className ?? ''}`}
      aria-disabled={isOff || undefined}
      aria-busy={busy || undefined}
      onClick={event => {
        if (isOff) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {children}
    </button>
  )
  return unless ? <Tip text={unless}>{button}</Tip> : button
}
