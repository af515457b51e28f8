import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Dialog, DialogEnd } from './dialog.tsx'
import { Failure } from './notice.tsx'

type Props = {
  /** The act and the thing: “Delete vision-16”. */
  title: string
  /** The consequences. */
  children: ReactNode
  /** The button; the same verb as in the title. */
  text: string
  isDangerous?: boolean
  busy?: boolean
  unless?: string | null | false
  error?: unknown
  onYes: () => void
  onClose: () => void
}

/** A question before an act that cannot simply be undone. */
export const Ask = ({ title, children, text, error, onYes, onClose, ...rest }: Props) => (
  <Dialog title={title} onClose={onClose}>
    {children}
    <Failure error={error ?? null} />
    <DialogEnd onCancel={onClose}>
      <Button {...rest} kind="main" onClick={onYes}>
        {text}
      </Button>
    </DialogEnd>
  </Dialog>
)
