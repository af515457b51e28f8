import type { Slice } from '../slice.ts'
import { type Tables, validationRoutes } from './routes.ts'

export const validation: Slice<Tables> = {
  name: 'validation',
  routes: ({ reads }) => validationRoutes(reads),
  examples: { paths: { 'validation.step': 100, 'prompts.sample_key': 'p_481d04be4cdbb88b' } },
}
