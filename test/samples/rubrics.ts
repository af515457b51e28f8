import type { Sample } from './sample.ts'

export const rubricSample: Sample = {
  slice: 'rubrics',
  async make({ ask, owner }) {
    const rubric = { owner: owner.username, name: `rubric-of-${owner.username}` }
    await ask({
      method: 'PUT',
      path: `/api/rubrics/${rubric.owner}/${rubric.name}`,
      body: { name: rubric.name, criteria: [{ name: 'clear' }] },
    })
    return { nouns: { rubrics: rubric } }
  },
  missing: ({ nouns }, whose) => ({
    nouns: { rubrics: { owner: String(nouns.rubrics?.owner), name: `rubric-of-${whose}` } },
  }),
  hidden: ['rubrics'],
  lists: { '/api/rubrics': 'its people' },
  tables: {
    rubrics: { seenBy: 'owner', isFilled: true, cells: () => ({ visibility: 'private' }) },
  },
  publish: ({ username }) =>
    `update read.rubrics set visibility = 'public' where owner = '${username}'`,
  changes: {
    'PUT /api/rubrics/{owner}/{name}': {
      body: ({ fixtures }) => ({
        name: fixtures.operator.nouns.rubrics?.name,
        criteria: [{ name: 'short' }],
      }),
    },
  },
}
