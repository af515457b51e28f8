import { Type } from 'typebox'
import { closed } from './shared.ts'

/** `topics`: `jobs` for every run the caller may read, `job:<run_id>` for one; up to 50, comma-separated. */
export const streamQuery = closed({
  topics: Type.String({ minLength: 1, maxLength: 8000 }),
  after: Type.Optional(Type.String({ maxLength: 64 })),
})
