/** A copy of some bytes with a few random changes: bytes overwritten, removed, repeated, or cut off at the end. */
export function mutated(bytes: Buffer, random: () => number): Buffer {
  const below = (limit: number) => Math.floor(random() * limit)
  let changed: Buffer = Buffer.from(bytes)
  for (let count = 1 + below(4); count > 0; count--) {
    const at = below(changed.length)
    const [before, after] = [changed.subarray(0, at), changed.subarray(at)]
    const change = below(6)
    if (change < 3) changed[at] = below(256)
    else if (change === 3) changed = Buffer.concat([before, after.subarray(below(20))])
    else if (change === 4) changed = Buffer.concat([before, after.subarray(0, below(50)), after])
    else changed = below(3) === 0 ? Buffer.from(before) : changed
  }
  return changed
}
