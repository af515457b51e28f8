/** Longest line that is kept whole, in characters; what has no line breaks is cut there. */
const maxCharacters = 16_000

export type LineSplitter = {
  push(bytes: Uint8Array): void
  /** Hands on what is left without a line break. */
  end(): void
}

/**
 * Cuts output into lines, whatever the pieces it comes in: characters of several bytes are kept whole. Of a
 * line redrawn with carriage returns (progress bars) only the last drawing counts.
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
