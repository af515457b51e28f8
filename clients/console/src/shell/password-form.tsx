import { TextField } from '../design/field.tsx'
import { FormEnd } from '../design/form-end.tsx'
import { useSubmit } from '../session/use-submit.ts'

type Props = {
  className?: string | undefined
  label: string
  /** On the button. */
  text: string
  autoFocus?: boolean
  /** Throws if the password is wrong; otherwise the form goes away. */
  send: (password: string) => Promise<unknown>
}

/** Asks people who are signed in for their password. */
export function PasswordForm({ className, label, text, autoFocus = false, send }: Props) {
  const { onSubmit, ...sending } = useSubmit(given => send(String(given.get('password'))))
  return (
    <form className={className} onSubmit={onSubmit}>
      <TextField
        label={label}
        name="password"
        type="password"
        autoComplete="current-password"
        autoFocus={autoFocus}
        required
      />
      <FormEnd text={text} {...sending} />
    </form>
  )
}
