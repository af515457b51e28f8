import { Button } from './button.tsx'
import { Failure } from './notice.tsx'

/** The end of a form: why it could not be sent, and its button. */
export const FormEnd = ({
  error,
  isBusy = false,
  text,
}: {
  error: unknown
  isBusy?: boolean
  text: string
}) => (
  <>
    <Failure error={error} />
    <Button type="submit" kind="main" busy={isBusy}>
      {text}
    </Button>
  </>
)
