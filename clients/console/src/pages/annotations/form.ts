import type { Claim, Detail } from './paths.ts'
import type { Work } from './use-work.ts'

/** What the form of each kind of queue gets. */
export type FormProps = {
  item: NonNullable<Claim['item']>
  draft: Claim['draft']
  queue: Detail
  work: Work
}
