/** What `GET /api/search` finds, in the order of its results. */
export const foundTypes = [
  'run',
  'model',
  'deployment',
  'dataset',
  'environment',
  'rubric',
  'artifact',
  'diagnosis',
  'person',
] as const
export type FoundType = (typeof foundTypes)[number]

/** `ref`: as commands and other requests name it: an id, `owner/name` or a name. `path`: its page in the console. */
export type Found = {
  type: FoundType
  ref: string
  name: string
  owner: string
  project: string | null
  state: string | null
  created_at: string
  path: string
}

/** `counts`: by type, for the types asked for; 10,001 means more than 10,000. */
export type SearchReply = { counts: Partial<Record<FoundType, number>>; results: Found[] }
