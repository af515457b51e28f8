import { type ReactNode, useEffect, useId, useRef } from 'react'
import styles from './dialog.module.css'

type Props = {
  title: string
  /** Called by Escape and by a click beside it as well. */
  onClose: () => void
  children: ReactNode
  wide?: boolean
}

/**
 * A modal dialog, there as long as it is rendered. The element of the browser keeps the focus within and the page behind
 * inert without styles in the page, which the policy of the pages forbids.
 */
export function Dialog({ title, onClose, children, wide }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    element.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    // Escape closes it as well, by `onCancel`.
    <dialog
      ref={element}
      className={`${styles.dialog} ${wide ? styles.wide : ''}`}
      aria-labelledby={id}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
      onClick={event => {
        if (event.target === element.current) onClose()
      }}
    >
      <div className={styles.content}>
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
