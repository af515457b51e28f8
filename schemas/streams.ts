import { Type } from 'typebox'
import { closed } from './shared.ts'

/** `topics`: `jobs` for every run one may read, `job:<run_id>` for one; up to 50, separated by commas. */
export const streamQuery = closed({
  topics: Type.String({ minLength: 1, maxLength: 8000 }),
  after: Type.Optional(Type.String({ maxLength: 64 })),
})
