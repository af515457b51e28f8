import type { Exited } from '../port.ts'
import type { ExitRecord } from './attempt-directory.ts'

/** An exit record as `observe` returns it. */
export const exitedAs = ({ started_at, ...exit }: ExitRecord): Exited => ({
  state: 'exited',
  started_at,
  exit,
})
