/** Names joined by commas for an address; their own commas and backslashes are escaped with a backslash. */
export const joinNames = (names: readonly string[]): string =>
  names.map(name => name.replace(/[\\,]/g, '\\$&')).join(',')

export const splitNames = (text: string): string[] =>
  (text.match(/(?:\\.|[^,\\])+/gs) ?? []).map(name => name.replace(/\\(.)/gs, '$1'))
