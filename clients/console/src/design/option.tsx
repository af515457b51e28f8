import type { ComponentProps } from 'react'

type Props = ComponentProps<'div'> & { isChosen: boolean }

/** A choice in a listbox, whose input or list keeps the focus. */
export const Option = ({ isChosen, ...rest }: Props) => (
  <div role="option" tabIndex={-1} aria-selected={isChosen} {...rest} />
)
