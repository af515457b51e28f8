import type { Slice } from '../slice.ts'
import { changesProjection } from './projection.ts'

export const changes: Slice = { name: 'changes', decisions: changesProjection }
