import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react'
import styles from './dialog.module.css'

type Props = {
  title: string
  /** Also called by Escape and by a click outside. */
  onClose: () => void
  children: ReactNode
  wide?: boolean
}

/**
 * A modal dialog, open as long as it is rendered. The browser's own element keeps the focus inside and the page behind it
 * inert without styles in the page, which its security policy forbids.
 */
export function Dialog({ title, onClose, children, wide }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before a field of the dialog takes the focus.
  const [before] = useState(() => document.activeElement)
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => {
      // An open one would keep the focus from the page behind it.
      dialog?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [before])
  return (
    // Escape also closes it, through `onCancel`.
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
