/** Order of interest: a loss, then an accuracy or reward, then other metrics named after them or after an evaluation, then the keys with the most points. */
const interest = [
  /^(train\/|train_)?loss$/,
  /^(val|valid|validation|eval|test)[/_](acc|accuracy|reward|f1)$/,
  /^(train[/_])?(acc|accuracy|reward)$/,
  /(^|[/_])loss$/,
  /(^|[/_])(acc|accuracy|reward)$/,
  /loss/i,
  /reward/i,
  /(^|[/_.-])acc/i,
  /(^|[/_.-])eval/i,
  /(^|[/_.-])val/i,
]

/** The keys, most interesting first: where there is room for one metric, the command line and the console show the same. */
export function byInterest(metrics: ReadonlyMap<string, { count: number }>): string[] {
  return [...metrics]
    .map(([key, { count }]) => ({ key, count, rank: rankOf(key) }))
    .sort((a, b) => a.rank - b.rank || b.count - a.count || (a.key < b.key ? -1 : 1))
    .map(({ key }) => key)
}

function rankOf(key: string): number {
  const at = interest.findIndex(pattern => pattern.test(key))
  return at === -1 ? interest.length : at
}
