import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { parseSearch } from '../../schemas/runs/parse-search.ts'
import {
  type Comparison,
  type Condition,
  columnOf,
  type RunSearch,
  SearchFault,
} from '../../schemas/runs/search.ts'
import { Invalid } from '../../schemas/validate.ts'

/** The search of a request, null for none; 422 with the column of a syntax error. */
export function readSearch(text: string | undefined): RunSearch | null {
  if (text === undefined) return null
  try {
    return parseSearch(text)
  } catch (error) {
    if (!(error instanceof SearchFault)) throw error
    const column = columnOf(text, error.at)
    throw new Invalid([
      {
        loc: ['query', 'q'],
        msg: `${error.message} (column ${column})`,
        type: 'value_error',
        input: text,
        ctx: { column },
      },
    ])
  }
}

/** SQL condition of a search, from those of its parts. */
export function matching(
  search: RunSearch,
  matchOne: (condition: Condition) => RawBuilder<SqlBool>,
): RawBuilder<SqlBool> {
  switch (search.kind) {
    case 'and':
    case 'or': {
      const items = search.items.map(item => matching(item, matchOne))
      return sql`(${sql.join(items, search.kind === 'and' ? sql` and ` : sql` or `)})`
    }
    case 'not':
      // Not true: a thing without this value does not match the condition, so it matches its opposite.
      return sql`(${matching(search.item, matchOne)}) is not true`
    default:
      return matchOne(search)
  }
}

const signs = { '=': '=', '!=': '<>', '<': '<', '<=': '<=', '>': '>', '>=': '>=' } as const
export const sign = (op: Comparison) => sql.raw(signs[op])
