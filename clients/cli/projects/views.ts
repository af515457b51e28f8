import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'

type View = { view: string; owner: string | null; shared: boolean; bytes: number; saved_at: string }

const pathOf = (project: string) => `/api/projects/${segment(project)}/views`

export const describeViewList = describe({
  text: 'your own and the shared views of a project',
  operands: { '<project>': '' },
})

export const viewList = list<View>({
  path: (_, project = '') => pathOf(project),
  shown: {
    columns: [
      { title: 'VIEW', cell: row => row.view, shrinks: true },
      { title: 'OWNER', cell: row => row.owner ?? '-' },
      { title: 'READ BY', cell: row => (row.shared ? 'shared' : 'private') },
      { title: 'SAVED', cell: row => row.saved_at, drops: true },
    ],
    none: 'No views yet. The console saves them',
  },
})

export const describeViewRemove = describe({
  text: 'remove a view of yours, or as a maintainer the default one',
  operands: { '<project>': '', '<view>': '' },
})

export const viewRemove = request({
  send: ({ api }, _, project, view) => api.delete(`${pathOf(project)}/${segment(view)}`),
  note: (_, __, project, view) => `Removed the view ${view} of ${project}`,
})
