import type { ComponentProps } from 'react'

type Props = ComponentProps<'div'> & { 'aria-label': string }

/** A part of the page that scrolls on its own, by keyboard too. */
export const ScrollBox = (props: Props) => <div tabIndex={0} {...props} />
