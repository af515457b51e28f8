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
