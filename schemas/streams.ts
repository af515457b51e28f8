import { Type } from 'typebox'
import { closed } from './shared.ts'

/** `topics`: up to 50 names, comma-separated; the slice that serves a topic lists its names. */
export const streamQuery = closed({
  topics: Type.String({ minLength: 1, maxLength: 8000 }),
  after: Type.Optional(Type.String({ maxLength: 64 })),
})
