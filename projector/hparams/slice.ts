import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { hparamsProjection } from './projection.ts'

export const hparams: Slice = { name: 'hparams', decisions: decisions(hparamsProjection) }
