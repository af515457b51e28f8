import { foundTypes } from '../../schemas/found.ts'
import type { Sample } from './sample.ts'

/** People are in no read model. */
const ofReadModels = foundTypes.filter(type => type !== 'person').join(',')

/** It finds what other slices made. */
export const searchSample: Sample = {
  slice: 'search',
  lists: { '/api/search': 'everybody, with names' },
  moreLists: [`/api/search?type=${ofReadModels}&limit=50`],
}
