import type { Slice } from '../slice.ts'
import { deadLetterRoutes, type ParkedRecords } from './routes.ts'

export const deadLetters: Slice<{ parkedRecords: ParkedRecords }> = {
  name: 'dead-letters',
  routes: (deps, { parkedRecords }) => deadLetterRoutes(deps, parkedRecords),
  kind: null,
  announces: {
    dead_letter: 'nothing',
  },
  unprojected: ['dead_letter.replayed', 'dead_letter.dropped'],
  examples: {
    paths: { 'dead-letters.letter_id': 'forge.facts:0:42' },
  },
}
