import type { Api, Query } from './client.ts'

const pageSize = 500

/** All rows of a paged list. */
export async function everyPage<Row>(api: Api, path: string, query: Query = {}): Promise<Row[]> {
  const rows: Row[] = []
  for (;;) {
    const page = await api.get<Row[]>(path, { ...query, limit: pageSize, offset: rows.length })
    rows.push(...page)
    if (page.length < pageSize) return rows
  }
}

/** The first rows of a paged list; `isMore`: the server has others. */
export type Part<Row> = { rows: Row[]; isMore: boolean }

/** The first `limit` rows of a paged list, however many a page holds; all options of a query but its `limit` pass. */
export async function firstRows<Row>(
  api: Api,
  path: string,
  { limit, offset = 0, ...query }: Query & { limit: number; offset?: number },
): Promise<Part<Row>> {
  const rows: Row[] = []
  let isMore = false
  const onLink = (link: string | null) => {
    isMore = link?.includes('rel="next"') === true
  }
  do {
    const at = { limit: Math.min(pageSize, limit - rows.length), offset: offset + rows.length }
    rows.push(...(await api.get<Row[]>(path, { ...query, ...at }, { onLink })))
  } while (isMore && rows.length < limit)
  return { rows, isMore }
}
