const most = 4
/** What people look at first, in this order. */
const wanted = [
  /^(train[/_.])?loss$/,
  /loss/,
  /^(val|eval|test)[/_.].*(acc|f1|score|reward)/,
  /acc|reward/,
]

/** The few metrics of a run that tell most about it. */
export function keyChartsOf(keys: readonly string[]): string[] {
  const first = wanted.flatMap(pattern => keys.filter(key => pattern.test(key)).slice(0, 2))
  return [...new Set([...first, ...keys])].slice(0, most)
}
