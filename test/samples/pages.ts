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
}
