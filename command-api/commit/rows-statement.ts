import type { QueryConfig } from 'pg'

/** A statement that changes the rows of its only parameter, `$1`: a JSON array, serialized. */
export type RowsStatement = { name: string; text: string; rows: string }

/** All of them as one statement, which saves round trips. None may depend on the rows of another. */
export function statementOf(statements: readonly RowsStatement[]): QueryConfig {
  const parts = statements.map(
    ({ text }, nth) => `part_${nth} as (${text.replaceAll('$1', `$${nth + 1}`)})`,
  )
  return {
    name: statements.map(({ name }) => name).join('+'),
    text: `with ${parts.join()} select`,
    values: statements.map(({ rows }) => rows),
  }
}
