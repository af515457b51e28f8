import type { LucideIcon } from 'lucide-react/types'
import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import styles from './button.module.css'
import { Icon } from './icon.tsx'
import { Tip } from './tip.tsx'

/** Three levels: the one thing a view is for, what else can be done, and what should not draw attention. */
type Kind = 'main' | 'plain' | 'quiet'

type Props = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> & {
  kind?: Kind
  /** It destroys something. */
  isDangerous?: boolean
  icon?: LucideIcon
  /** Why it cannot be pressed now; it stays in the tab order, so that the reason can be read. */
  unless?: string | null | false
  /** True while its effect is under way. */
  busy?: boolean
  ref?: Ref<HTMLButtonElement>
  children?: ReactNode
}

/** The class of a link that looks like a button. */
export const linkButton = `${styles.button} ${styles.link}`
export const mainLink = `${linkButton} ${styles.main}`
export const quietLink = `${linkButton} ${styles.quiet}`

export function Button(props: Props) {
  const { kind = 'plain', isDangerous, icon, unless, busy, onClick, children, ...rest } = props
  const isOff = Boolean(unless) || busy === true
  const classes = [
    styles.button,
    styles[kind],
    isDangerous && styles.danger,
    children === undefined && styles.square,
    rest.className,
  ]
  const button = (
    <button
      type="button"
      {...rest}
      className={classes.filter(Boolean).join(' ')}
      aria-disabled={isOff || undefined}
      aria-busy={busy || undefined}
      onClick={event => {
        if (isOff) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {icon && <Icon of={icon} />}
      {children}
    </button>
  )
  return unless ? <Tip text={unless}>{button}</Tip> : button
}

type IconButtonProps = Omit<Props, 'children'> & { icon: LucideIcon; name: string }

/** A button that shows a picture alone; its name is read out and appears on hover. */
export const IconButton = ({ name, kind = 'quiet', ...rest }: IconButtonProps) => {
  const button = <Button {...rest} kind={kind} aria-label={name} />
  return rest.unless ? (
    button
  ) : (
    <Tip text={name} isName>
      {button}
    </Tip>
  )
}
