/**
 * GPU indexes for one run on one node, lowest free first; null if too few are free (a run never holds only a part
 * of its GPUs). `held` are the indexes held by other runs; those >= `total` (the node shrank) are ignored.
 */
export function assignSlots(
  total: number,
  held: Iterable<number>,
  wanted: number,
): number[] | null {
  const taken = new Set(held)
  const indexes: number[] = []
  for (let index = 0; index < total && indexes.length < wanted; index++)
    if (!taken.has(index)) indexes.push(index)
  return indexes.length === wanted ? indexes : null
}
