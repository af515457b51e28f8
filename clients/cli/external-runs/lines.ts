/** Longer lines are cut here, in characters. */
const maxCharacters = 16_000

export type LineSplitter = {
  push(bytes: Uint8Array): void
  /** Emits the rest that has no line break. */
  end(): void
}

/**
 * Cuts output into lines, however it is chunked; multi-byte characters stay whole. If a line is redrawn with
 * carriage returns (a progress bar), only its last version is kept.
 */
export function lineSplitter(take: (line: string) => void): LineSplitter {
  const decoder = new TextDecoder()
  let rest = ''
  const emit = (text: string) => {
    const drawn = text.replace(/\r+$/, '')
    let line = drawn.slice(drawn.lastIndexOf('\r') + 1)
    for (; line.length > maxCharacters; line = line.slice(cutAt(line)))
      take(line.slice(0, cutAt(line)))
    take(line)
  }
  const feed = (text: string) => {
    rest += text
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) emit(line)
    const redrawn = rest.lastIndexOf('\r', rest.length - 2)
    if (redrawn > 0) rest = rest.slice(redrawn + 1)
    for (; rest.length > maxCharacters; rest = rest.slice(cutAt(rest)))
      take(rest.slice(0, cutAt(rest)))
  }
  return {
    push: bytes => feed(storable(decoder.decode(bytes, { stream: true }))),
    end() {
      feed(storable(decoder.decode()))
      if (rest !== '') emit(rest)
      rest = ''
    },
  }
}

/** The server refuses U+0000, and with it all lines of a call. */
const storable = (text: string) => text.replaceAll('\0', '\ufffd')

/** Where a long line is cut: not within a character of two units. */
const cutAt = (line: string): number =>
  /[\ud800-\udbff]/.test(line.charAt(maxCharacters - 1)) ? maxCharacters - 1 : maxCharacters
