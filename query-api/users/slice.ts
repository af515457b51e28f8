import type { QuotaTables } from '../../projector/quotas/table.ts'
import type { Slice } from '../slice.ts'
import { userRoutes } from './routes.ts'

export const users: Slice<QuotaTables> = {
  name: 'users',
  routes: userRoutes,
}
