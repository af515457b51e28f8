import X from 'lucide-react/icons/x'
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react'
import { useWords, wordsOf } from '../words/words.ts'
import { Button, IconButton } from './button.tsx'
import styles from './dialog.module.css'

const words = wordsOf({ close: ['Close', '关闭'], cancel: ['Cancel', '取消'] })

type Props = {
  /** The act and the thing: “Stop vision-16”. */
  title: string
  /** Also called by Escape and by a click outside. Absent: it stays until it is answered. */
  onClose?: () => void
  children: ReactNode
  /** `side`: along the right edge, as high as the window. */
  shape?: 'narrow' | 'wide' | 'side'
}

/**
 * A modal dialog, open as long as it is rendered. The browser's own element keeps the focus inside and the page behind it
 * inert without styles in the page, which its security policy forbids.
 */
export function Dialog({ title, onClose, children, shape = 'narrow' }: Props) {
  const say = useWords(words)
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
      className={`${styles.dialog} ${styles[shape]}`}
      aria-labelledby={id}
      onCancel={event => {
        event.preventDefault()
        onClose?.()
      }}
      onClick={event => {
        if (event.target === element.current) onClose?.()
      }}
    >
      <div className={styles.content}>
        <h2 id={id}>{title}</h2>
        {children}
        {/* Last, so that a dialog opens with the focus on its first field. */}
        {onClose && (
          <span className={styles.close}>
            <IconButton icon={X} name={say.close} onClick={onClose} />
          </span>
        )}
      </div>
    </dialog>
  )
}

/** The buttons at the end of a dialog: its own after Cancel, which changes nothing. */
export function DialogEnd({ onCancel, children }: { onCancel: () => void; children: ReactNode }) {
  const say = useWords(words)
  return (
    <div className={styles.end}>
      <Button onClick={onCancel}>{say.cancel}</Button>
      {children}
    </div>
  )
}
