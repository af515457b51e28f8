import type { QuotaTables } from '../../projector/quotas/table.ts'
import type { Slice } from '../slice.ts'
import { quotaRoutes } from './routes.ts'

export const quotas: Slice<QuotaTables> = {
  name: 'quotas',
  routes: quotaRoutes,
  examples: { paths: { 'quotas.username': 'ada' } },
}
