/** Steps between the labels of an axis, ascending. uPlot's own end at 1e32: an axis of larger numbers would have no labels. */
export const increments: readonly number[] = Array.from({ length: 617 }, (_, nth) => nth - 308)
  .flatMap(order => [1, 2, 2.5, 5].map(step => Number(`${step}e${order}`)))
  .filter(Number.isFinite)
