import { sampleModel } from './assemble.ts'
import type { Sample } from './sample.ts'

const ref = `hub:${sampleModel}`
type Made = { import_id: string; ref: string }

/** The owner's import of a model. */
export const hubImportSample: Sample = {
  slice: 'hub-imports',
  things: {
    hub_import: `select import_id, 'hub:' || repo || '@' || commit, null, owner, null, null, false
                   from write.hub_import`,
  },
  async make({ ask }) {
    const made = await ask<Made>({ method: 'POST', path: '/api/hub-imports', body: { ref } })
    return {
      nouns: { 'hub-imports': { import_id: made.import_id } },
      fields: { hub_ref: made.ref },
    }
  },
  missing: (_, whose) => ({
    nouns: { 'hub-imports': { import_id: `himp_of_nobody_${whose}` } },
    fields: { hub_ref: `hub:samples/none@${'a'.repeat(40)}` },
  }),
  hidden: ['hub-imports'],
  lists: { '/api/hub-imports': 'its people', '/api/model-hub': 'everybody' },
  tables: {
    hub_imports: {
      seenBy: 'owner alone',
      isFilled: true,
      cells: ({ no }) => ({ import_id: `himp_${no}` }),
    },
  },
  changes: {
    'POST /api/hub-imports': {
      // Deletes the import of the sample, because repeating that one changes nothing.
      async path({ send, people, fixtures }) {
        const { import_id } = fixtures.operator.nouns['hub-imports'] ?? {}
        const authorization = `Bearer ${people.operator.token}`
        await send({
          ...{ method: 'DELETE', path: `/api/hub-imports/${import_id}` },
          headers: { authorization },
        })
        return '/api/hub-imports'
      },
      body: () => ({ ref }),
    },
  },
}
