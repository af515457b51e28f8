import type { Sample } from './sample.ts'

const nameOf = (username: string) => `TOKEN_OF_${username.replaceAll(/\W/g, '_')}`
const body = () => ({ value: 'the value of a sample' })

/** A secret of the owner. */
export const secretSample: Sample = {
  slice: 'secrets',
  async make({ ask, owner }) {
    const name = nameOf(owner.username)
    await ask({ method: 'PUT', path: `/api/secrets/${name}`, body: body() })
    return { nouns: { secrets: { name } } }
  },
  missing: (_, whose) => ({ nouns: { secrets: { name: nameOf(`nothing of ${whose}`) } } }),
  hidden: ['secrets'],
  lists: { '/api/secrets': 'the caller' },
  tables: {
    secrets: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ username }) => ({ name: nameOf(username) }),
    },
  },
  changes: { 'PUT /api/secrets/{name}': { body } },
}
