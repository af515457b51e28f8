/** What lists search in: one text in lower case, since PostgreSQL's `ilike` costs five times a `like`. */
export const searchText = (texts: readonly (string | null)[]): string =>
  texts
    .map(text => text ?? '')
    .join('\n')
    .toLowerCase()

/** A text to be found anywhere in a search text, as a pattern of `like`. */
export const containing = (text: string): string =>
  `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
