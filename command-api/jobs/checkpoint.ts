import { toTimestamp } from '../../schemas/timestamp.ts'
import type { KnownCheckpoint } from '../rules/newest-checkpoint.ts'

export const shown = ({ registered_at, ...checkpoint }: KnownCheckpoint) => ({
  ...checkpoint,
  registered_at: toTimestamp(registered_at),
})
