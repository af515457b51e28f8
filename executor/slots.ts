/**
 * GPU indexes for one run on one node, lowest free first: all of them or, when too few are free, null
 * (a run never holds a part of what it asked for). `held` are the indexes other runs hold; an index at or
 * past `total` in it (the node shrank) takes nothing away.
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

/** How many of `total` slots nobody holds. */
export function freeSlots(total: number, held: Iterable<number>): number {
  const taken = new Set(held)
  let free = 0
  for (let index = 0; index < total; index++) if (!taken.has(index)) free++
  return free
}
