/** Order of interest: a loss, then an accuracy or reward, then the keys with the most points. */
const interest = [
  /^(train\/|train_)?loss$/,
  /^(val|valid|validation|eval|test)[/_](acc|accuracy|reward|f1)$/,
  /^(train[/_])?(acc|accuracy|reward)$/,
  /(^|[/_])loss$/,
  /(^|[/_])(acc|accuracy|reward)$/,
]

/** The keys, most interesting first: where there is room for one metric, the command line and the console show the same. */
export function byInterest(metrics: ReadonlyMap<string, { count: number }>): string[] {
  const rank = (key: string) => {
    const at = interest.findIndex(pattern => pattern.test(key))
    return at === -1 ? interest.length : at
  }
  return [...metrics]
    .sort(([a, x], [b, y]) => rank(a) - rank(b) || y.count - x.count || (a < b ? -1 : 1))
    .map(([key]) => key)
}
