const most = 4
/** The metrics that people look at first, in this order. */
const wanted = [
  /^(train[/_.])?loss$/,
  /loss/,
  /^(val|eval|test)[/_.].*(acc|f1|score|reward)/,
  /acc|reward/,
]

/** The few most informative metrics of a run. */
export function keyChartsOf(keys: readonly string[]): string[] {
  const first = wanted.flatMap(pattern => keys.filter(key => pattern.test(key)).slice(0, 2))
  return [...new Set([...first, ...keys])].slice(0, most)
}
