import type { HparamTables } from '../../projector/hparams/table.ts'
import type { AccessTables } from '../rules/access.ts'
import type { Slice } from '../slice.ts'
import { hparamRoutes } from './routes.ts'

export const hparams: Slice<HparamTables & AccessTables> = {
  name: 'hparams',
  routes: ({ reads }) => hparamRoutes(reads),
}
