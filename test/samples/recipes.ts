import type { Sample } from './sample.ts'

/** A built-in recipe; its lock is used to submit jobs. */
export const recipeSample: Sample = {
  slice: 'recipes',
  async make({ ask }) {
    const recipe = { name: 'digits', version: '1.0.0' }
    const path = `/api/recipes/${recipe.name}/${recipe.version}/lock`
    return { nouns: { recipes: recipe }, fields: { lock: await ask({ method: 'GET', path }) } }
  },
  missing: (_, whose) => ({
    nouns: { recipes: { name: `recipe-of-${whose}`, version: '1.0.0' } },
  }),
  lists: { '/api/recipes': 'everybody' },
}
