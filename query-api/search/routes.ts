import { type Route, route } from '../../auth/route.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import { type FoundType, foundTypes } from '../../schemas/found.ts'
import { searchQuery, searchReply } from '../../schemas/search.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { Invalid } from '../../schemas/validate.ts'
import { pageHeaders, parseWords } from '../reading/page.ts'
import { readableProjects } from '../rules/access.ts'
import { readSearch } from '../rules/search.ts'
import type { QueryDeps, SliceDeps } from '../slice.ts'
import { type Asked, findKind, findPeople, type Page, type Part } from './find.ts'
import type { KindTables } from './kinds.ts'

export type Tables = KindTables & MetricTables
type Deps = Pick<QueryDeps<Tables>, 'reads' | 'pool'> & Pick<SliceDeps<Tables>, 'runsOfSearch'>

/** Things of every kind that a search of runs finds by words, owner, project, state and age (docs/use/search.md). */
export const searchRoute = (deps: Deps): Route =>
  route({
    method: 'GET',
    path: '/api/search',
    credential: 'person',
    tag: 'search',
    summary: 'Search in everything that one may read',
    query: searchQuery,
    response: searchReply,
    async handle({ ctx, caller, query: { q, type, limit = 5, offset = 0 } }) {
      const types = type === undefined ? foundTypes : parseWords(type, foundTypes, 'type')
      if (offset > 0 && types.length !== 1) throw needsOneType(offset)
      const search = readSearch(q)
      const projects = await readableProjects(deps.reads.as(caller), caller)
      const asked = { caller, projects, search }
      const parts = await Promise.all(types.map(one => find(deps, asked, one, { limit, offset })))
      const [only] = parts
      if (types.length === 1 && only)
        pageHeaders(ctx, { limit, offset, shown: only.results.length }, only.counted)
      return {
        counts: Object.fromEntries(types.map((one, nth) => [one, parts[nth]?.counted ?? 0])),
        results: parts.flatMap(({ results }) => results),
      }
    },
  })

const needsOneType = (offset: number) =>
  new Invalid([
    {
      loc: ['query', 'offset'],
      msg: 'An offset needs a single type: add e.g. type=run',
      type: 'value_error',
      input: offset,
      ctx: {},
    },
  ])

async function find(
  { reads, pool, runsOfSearch }: Deps,
  asked: Asked,
  type: FoundType,
  page: Page,
): Promise<Part> {
  const db = reads.as(asked.caller)
  if (type === 'person') return findPeople({ db, pool }, asked, page)
  if (type !== 'run') return findKind(db, asked, type, page)
  const { counted, runs } = await runsOfSearch(db, asked, asked.search, page)
  const results = runs.map(({ short_id, name, owner, project, state, created_at }) => ({
    type,
    ref: short_id,
    name: name ?? short_id,
    ...{ owner, project, state },
    created_at: toTimestamp(created_at),
    path: `/runs/${encodeURIComponent(short_id)}`,
  }))
  return { counted, results }
}
