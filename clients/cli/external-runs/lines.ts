/** Longer lines are cut here, in characters. */
const maxCharacters = 16_000

export type LineSplitter = {
  push(bytes: Uint8Array): void
  /** Emits the rest that has no line break. */
  end(): void
}

/**
 * Cuts output into lines, however it is chunked; multi-byte characters stay whole. Only the last version of a line redrawn with
 * carriage returns (progress bars) only the last version is kept.
 */
export function lineSplitter(take: (line: string) => void): LineSplitter {
  const decoder = new TextDecoder()
  let rest = ''
  const emit = (text: string) => {
    const drawn = text.replace(/\r+$/, '')
    take(drawn.slice(drawn.lastIndexOf('\r') + 1))
  }
  const feed = (text: string) => {
    rest += text
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) emit(line)
    const redrawn = rest.lastIndexOf('\r', rest.length - 2)
    if (redrawn > 0) rest = rest.slice(redrawn + 1)
    while (rest.length > maxCharacters) {
      emit(rest.slice(0, maxCharacters))
      rest = rest.slice(maxCharacters)
    }
  }
  return {
    push: bytes => feed(decoder.decode(bytes, { stream: true })),
    end() {
      feed(decoder.decode())
      if (rest !== '') emit(rest)
      rest = ''
    },
  }
}
