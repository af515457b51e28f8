/** Words in the names of metrics that people look at first. */
const first = ['loss', 'reward', 'acc', 'eval', 'val'] as const

const rankOf = (key: string): number => {
  const nth = first.findIndex(word => key.toLowerCase().includes(word))
  return nth < 0 ? first.length : nth
}

/** The most interesting metrics first, then by name. */
export const byInterest = (keys: readonly string[]): string[] =>
  [...keys].sort((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
