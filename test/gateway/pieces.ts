/** The same bytes in pieces, cut at these places. */
export function pieces(of: string | Buffer, at: readonly number[]): Buffer[] {
  const bytes = Buffer.from(of)
  const ends = [...at.map(cut => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}
