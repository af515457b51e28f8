import type { Exited } from '../port.ts'
import type { ExitRecord } from './attempt-directory.ts'

/** What an exit record amounts to for callers of `observe`. */
export const exitedAs = ({ started_at, ...exit }: ExitRecord): Exited => ({
  state: 'exited',
  started_at,
  exit,
})
