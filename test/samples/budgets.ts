import type { Sample } from './sample.ts'

/** The budget of the owner's project, whose name is a hidden one. */
export const budgetSample: Sample = {
  slice: 'budgets',
  async make({ ask, made }) {
    const name = String(made.fields.project)
    const body = { amount: '1000000', hold: false }
    await ask({ method: 'PUT', path: `/api/budgets/project/${name}`, body })
    return { nouns: { budgets: { scope: 'project', name } } }
  },
  missing: (_, whose) => ({ nouns: { budgets: { scope: 'project', name: `none-of-${whose}` } } }),
  lists: { '/api/budgets': 'its people' },
  tables: {
    budgets: {
      seenBy: 'members',
      isFilled: true,
      cells: ({ project }) => ({ scope: 'project', name: project }),
    },
  },
  changes: {
    'PUT /api/budgets/{scope}/{name}': { body: () => ({ amount: '12.5' }) },
    'DELETE /api/budgets/{scope}/{name}': { comesLast: true },
  },
}
