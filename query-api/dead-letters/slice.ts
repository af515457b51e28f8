import type { DeadLetterTables } from '../../projector/dead-letters/table.ts'
import type { Slice } from '../slice.ts'
import { deadLetterRoutes } from './routes.ts'

export const deadLetters: Slice<DeadLetterTables> = {
  name: 'dead-letters',
  routes: ({ reads }) => deadLetterRoutes(reads),
}
