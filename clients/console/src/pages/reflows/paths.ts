export type {
  ReflowDetail as Detail,
  ReflowErased as Erased,
  ReflowPreview as Preview,
  ReflowRow as Row,
} from '../../../../../schemas/reflows.ts'

export const path = '/api/reflows'
export const pathOf = (reflow_id: string): string => `${path}/${encodeURIComponent(reflow_id)}`

/** Where a version of a dataset is shown. */
export function placeOf(ref: string) {
  const [named = '', version = ''] = ref.split('@')
  const [owner = '', name = ''] = named.split('/')
  return { to: '/datasets/$owner/$name', params: { owner, name }, search: { version } } as const
}

/** What a firing leaves out, by its reason. */
export const leftOut = [
  'unreadable',
  'erased',
  'filtered',
  'unsampled',
  'unscored',
  'duplicates',
] as const
/** As in the API; a page must not load the schemas for them. */
export const scrubbed = ['email', 'phone', 'card', 'ip', 'key'] as const
