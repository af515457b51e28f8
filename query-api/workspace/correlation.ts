/** Both null if one of the columns is constant. */
export type Correlation = { pearson: number; spearman: number } | null

export function correlate(x: readonly number[], y: readonly number[]): Correlation {
  const linear = pearson(x, y)
  const ranked = pearson(ranksOf(x), ranksOf(y))
  return linear === null || ranked === null ? null : { pearson: linear, spearman: ranked }
}

function pearson(x: readonly number[], y: readonly number[]): number | null {
  const [meanX, meanY] = [averageOf(x), averageOf(y)]
  let [xy, xx, yy] = [0, 0, 0]
  for (const [i, value] of x.entries()) {
    const [dx, dy] = [value - meanX, (y[i] ?? 0) - meanY]
    xy += dx * dy
    xx += dx * dx
    yy += dy * dy
  }
  const size = Math.sqrt(xx) * Math.sqrt(yy)
  // Rounding would make a perfect correlation 0.9999999999999998.
  return size > 0 && Number.isFinite(size) ? Number((xy / size).toFixed(12)) : null
}

const averageOf = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value / values.length, 0)

/** Equal values share the average of their ranks. */
function ranksOf(values: readonly number[]): number[] {
  const order = values.map((value, i) => ({ value, i })).sort((a, b) => a.value - b.value)
  const ranks: number[] = values.map(() => 0)
  for (let from = 0; from < order.length; ) {
    let to = from
    while (to < order.length && order[to]?.value === order[from]?.value) to++
    for (const { i } of order.slice(from, to)) ranks[i] = (from + to - 1) / 2
    from = to
  }
  return ranks
}
