/** The GPUs among a node's generic resources, by type: `gpu:h100:4(S:0-1),gpu:2` is h100: 4 and, without a type, 2. */
export function gpusByType(gres: string): Map<string, number> {
  const found = new Map<string, number>()
  for (const [, type = '', count] of gres.matchAll(
    /(?:^|,)gpu(?::([A-Za-z_][^:,(]*))?(?::(\d+))?(?=[,(]|$)/g,
  ))
    found.set(type, (found.get(type) ?? 0) + Number(count ?? 1))
  return found
}

/** The indexes in a variable of Slurm such as `SLURM_JOB_GPUS`. */
export const gpuIndexesOf = (variable: string): number[] =>
  variable
    .split(',')
    .flatMap(expandRange)
    .filter(index => /^\d+$/.test(index))
    .map(Number)

/** More than any node has: the text cannot be right. */
const most = 65_536

/** `08-10` is 08, 09 and 10. */
function expandRange(text: string): string[] {
  const [, low, high] = /^(\d{1,9})-(\d{1,9})$/.exec(text) ?? []
  if (low === undefined || high === undefined) return [text]
  const count = Math.min(Math.max(Number(high) - Number(low) + 1, 0), most)
  return Array.from({ length: count }, (_, index) =>
    String(Number(low) + index).padStart(low.length, '0'),
  )
}
