/** Names in one text of an address, separated by commas; their own commas and backslashes have a backslash before them. */
export const joinNames = (names: readonly string[]): string =>
  names.map(name => name.replace(/[\\,]/g, '\\$&')).join(',')

export const splitNames = (text: string): string[] =>
  (text.match(/(?:\\.|[^,\\])+/gs) ?? []).map(name => name.replace(/\\(.)/gs, '$1'))
