type Answer = { body: AsyncIterable<Uint8Array> | null }

/** The text of a response, cut after the chunk in which it exceeds this many bytes. */
export async function readSome({ body }: Answer, mostBytes: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body ?? []) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes > mostBytes) break
  }
  return Buffer.concat(pieces).toString('utf8')
}
