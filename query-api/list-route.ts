import { type TObject, type TSchema, Type } from 'typebox'
import type { CallerOf } from '../auth/caller.ts'
import { type Route, route } from '../auth/route.ts'
import type { Request } from '../platform/http/route.ts'
import { pageHeaders } from './page.ts'

type Page = { limit: number; offset: number }
type ListCaller = 'person' | 'admin'

export type ListDefinition<C extends ListCaller, Q extends TObject> = {
  path: string
  credential: C
  tag: string
  summary: string
  /** Has `limit` and `offset`. */
  query: Q
  row: TSchema
  /** The rows of one page, in a total order, or pages overlap; `counted` may be capped at 10,001. */
  read(
    request: Request<CallerOf<C>, undefined, Q, undefined>,
    page: Page,
  ): Promise<{ rows: unknown[]; counted: number }>
}

/** A list in pages of 50 unless asked otherwise, with their headers. */
export const listRoute = <C extends ListCaller, Q extends TObject>({
  row,
  read,
  ...common
}: ListDefinition<C, Q>): Route =>
  route<C, undefined, Q>({
    method: 'GET',
    ...common,
    response: Type.Array(row),
    async handle(request) {
      const { limit = 50, offset = 0 } = request.query as Partial<Page>
      const { rows, counted } = await read(request, { limit, offset })
      pageHeaders(request.ctx, { limit, offset, shown: rows.length }, counted)
      return rows
    },
  })
