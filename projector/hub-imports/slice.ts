import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { hubImportProjection } from './projection.ts'

export const hubImports: Slice = {
  name: 'hub-imports',
  decisions: decisions(hubImportProjection),
}
