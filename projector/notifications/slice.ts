import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { notificationProjection } from './projection.ts'

export const notifications: Slice = {
  name: 'notifications',
  decisions: decisions(notificationProjection),
}
