import { escapeLiteral } from 'pg'

/**
 * The condition that a column has one of these values, as part of a statement's text: PostgreSQL uses a partial index only if
 * the statement itself has the index's condition.
 */
export const isOneOf = (column: string, values: readonly string[]): string =>
  `${column} in (${values.map(value => escapeLiteral(value)).join(', ')})`
