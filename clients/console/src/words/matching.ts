/** The names that contain a text, or match `/a pattern/`; null if that is not a pattern. */
export function matching(names: readonly string[], filter: string): string[] | null {
  const [, pattern] = /^\/(.*)\/$/s.exec(filter) ?? []
  if (pattern === undefined) {
    const text = filter.toLowerCase()
    return names.filter(name => name.toLowerCase().includes(text))
  }
  try {
    const wanted = new RegExp(pattern)
    return names.filter(name => wanted.test(name))
  } catch {
    return null
  }
}
