import { TextField } from '../design/field.tsx'

type CodeFieldProps = { label: string; name: string; inputMode?: 'numeric' }

/** Browsers and password managers offer the code here. */
export const CodeField = (props: CodeFieldProps) => (
  <TextField {...props} autoComplete="one-time-code" spellCheck={false} autoFocus required />
)
