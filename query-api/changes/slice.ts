import type { ChangeTables } from '../../projector/changes/table.ts'
import type { AccessTables } from '../rules/access.ts'
import type { Slice } from '../slice.ts'
import { changeTopic } from './topic.ts'

export const changes: Slice<ChangeTables & AccessTables> = {
  name: 'changes',
  topic: { place: 0, of: changeTopic },
}
