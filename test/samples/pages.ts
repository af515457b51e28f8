import { sections } from '../../clients/console/src/pages/admin/sections.ts'
import { readAssets } from '../../query-api/pages/assets.ts'
import { buildConsole } from '../../server/console/build.ts'
import type { Sample } from './sample.ts'

export const pageSample: Sample = {
  slice: 'pages',
  make: async () => {
    const { byName } = readAssets(await buildConsole(() => {}))
    const [file = ''] = byName.keys()
    return {
      nouns: {
        assets: { file },
        admin: { section: 'audit' },
      },
    }
  },
  missing: () => ({ nouns: { assets: { file: 'nothing.js' } } }),
  pages: ([one, other]) => [
    ...['curves', 'differences', 'scatter'].map(
      part => `/compare?runs=${one.short_id},${other.short_id}&part=${part}`,
    ),
    ...sections.map(({ name }) => `/admin/${name}`),
    '/no/such/page',
  ],
}
