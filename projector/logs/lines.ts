/** A longer line is cut into pieces of this size, in bytes (specification, "Limits": none is named). */
const maxLineBytes = 64 * 1024
const newline = 10
const carriageReturn = 13

/**
 * Cuts output into lines. Returns the complete ones, and the bytes after the last line break, which may continue.
 * If a line is redrawn with carriage returns (a progress bar), only its last version is kept.
 */
export function cutLines(bytes: Buffer): { lines: string[]; unfinished: Buffer } {
  const lines: string[] = []
  let from = 0
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
    pushLine(lines, bytes.subarray(from, end))
    from = end + 1
  }
  // Keep only the last version of a redrawn line; a final \r may be part of a line break.
  let unfinished = bytes.subarray(from)
  if (unfinished.length > 1)
    unfinished = unfinished.subarray(unfinished.lastIndexOf(carriageReturn, -2) + 1)
  while (unfinished.length > maxLineBytes) {
    const cut = boundary(unfinished, maxLineBytes)
    lines.push(unfinished.toString('utf8', 0, cut))
    unfinished = unfinished.subarray(cut)
  }
  return { lines, unfinished }
}

/** The lines of one reported chunk; a trailing line break does not start another line. */
export function chunkLines(chunk: string): string[] {
  const lines = chunk.split('\n')
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines.map(lastDrawn)
}

/** The unfinished line at the end of a stream. */
export const finishLine = (unfinished: Buffer): string[] => {
  const lines: string[] = []
  if (unfinished.length > 0) pushLine(lines, unfinished)
  return lines
}

function pushLine(lines: string[], bytes: Buffer): void {
  let rest = bytes
  while (rest.length > maxLineBytes) {
    const cut = boundary(rest, maxLineBytes)
    lines.push(rest.toString('utf8', 0, cut))
    rest = rest.subarray(cut)
  }
  lines.push(lastDrawn(rest.toString('utf8')))
}

function lastDrawn(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  return text.slice(text.lastIndexOf('\r') + 1)
}

/** The last position <= `at` that does not split a UTF-8 character. */
function boundary(bytes: Buffer, at: number): number {
  let cut = at
  while (cut > at - 4 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut--
  return ((bytes[cut] ?? 0) & 0xc0) === 0x80 ? at : cut
}
