import { Button } from './button.tsx'
import { DialogEnd } from './dialog.tsx'
import { Failure } from './notice.tsx'

type Props = {
  error: unknown
  isBusy?: boolean
  text: string
  /** Given where the form is a dialog. */
  onCancel?: () => void
}

/** The end of a form: why it could not be sent, and its button. */
export const FormEnd = ({ error, isBusy = false, text, onCancel }: Props) => {
  const send = (
    <Button type="submit" kind="main" busy={isBusy}>
      {text}
    </Button>
  )
  return (
    <>
      <Failure error={error} />
      {onCancel ? <DialogEnd onCancel={onCancel}>{send}</DialogEnd> : send}
    </>
  )
}
