import type { ComponentProps } from 'react'
import { TextField } from './field.tsx'

/** For names that no dictionary knows. */
export const NameField = (props: ComponentProps<typeof TextField>) => (
  <TextField autoComplete="off" spellCheck={false} {...props} />
)
