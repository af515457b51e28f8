import { decisions } from '../decisions.ts'
import type { Slice } from '../slice.ts'
import { mlflowProjection } from './projection.ts'

export const mlflow: Slice = { name: 'mlflow', decisions: decisions(mlflowProjection) }
