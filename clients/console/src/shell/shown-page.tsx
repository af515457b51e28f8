import type { ComponentProps } from 'react'
import { Shown } from '../design/notice.tsx'
import { ApiFailure } from '../session/failure.ts'
import { NotFound } from './wrong-turns.tsx'

/** The thing that a page is about, its failure, or that the address names nothing. */
export function ShownPage<T>(props: ComponentProps<typeof Shown<T>>) {
  const { error } = props.of
  if (error instanceof ApiFailure && error.status === 404) return <NotFound error={error} />
  return <Shown {...props} />
}
