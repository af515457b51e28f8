/** The text that list searches match: lower case, because `ilike` costs PostgreSQL five times as much as `like`. */
export const searchText = (texts: readonly (string | null)[]): string =>
  texts
    .map(text => text ?? '')
    .join('\n')
    .toLowerCase()

/** A `like` pattern that finds the text anywhere in a search text. */
export const containing = (text: string): string =>
  `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
