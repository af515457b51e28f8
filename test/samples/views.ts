import type { Sample } from './sample.ts'

/** The default view of the owner's project, which all of its readers see. */
export const viewSample: Sample = {
  slice: 'views',
  async make({ ask, made }) {
    const path = `/api/projects/${made.fields.project}/views/default`
    await ask({ method: 'PUT', path, body: { state: { group: 'state' } } })
    return { nouns: { views: { view: 'default' } } }
  },
  tables: {
    saved_views: {
      seenBy: 'members',
      isFilled: true,
      cells: () => ({ view: 'default', owner: '', shared: true, state: '{}' }),
    },
  },
  changes: {
    'PUT /api/projects/{name}/views/{view}': { body: () => ({ state: { group: 'recipe' } }) },
  },
}
