import { packed } from '../platform/files/tar-of.ts'
import type { Sample, SampleServer } from './sample.ts'
import type { Call } from './send.ts'
import { sendArchive } from './send-archive.ts'

const recipeFile = `
name: of-a-sample
version: 1.0.0
title: Nothing
framework: {name: none, version: "1", runtime_id: rt_none}
entrypoint: train.py
params_schema: {}
`

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
  changes: {
    'POST /api/admin/recipes': {
      body: async server => ({ upload_id: await uploadRecipe(server) }),
    },
  },
}

async function uploadRecipe({ send, credentials }: SampleServer): Promise<string> {
  const archive = packed(
    { path: 'recipe.yaml', content: recipeFile },
    { path: 'train.py', content: 'print(1)\n' },
  )
  const done = async (call: Call) => {
    const { status, text } = await send({ headers: credentials.admin, ...call })
    if (status !== 200) throw new Error(`${call.method} ${call.path} returned ${status} ${text}`)
    return JSON.parse(text)
  }
  return sendArchive(done, 'recipe', archive)
}
