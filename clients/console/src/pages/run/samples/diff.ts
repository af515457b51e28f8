export type Part = { kind: 'same' | 'added' | 'removed'; text: string }

/** Above this many words the whole text is shown as replaced: the table below grows with the product. */
const mostWords = 1_500

/** The differences between two texts, word by word (longest common subsequence). */
export function diffOf(before: string, after: string): Part[] {
  const [old, now] = [wordsIn(before), wordsIn(after)]
  if (old.length > mostWords || now.length > mostWords)
    return before === after
      ? [{ kind: 'same', text: after }]
      : [
          { kind: 'removed', text: before },
          { kind: 'added', text: after },
        ]
  return joined(walk(old, now, lengthsOf(old, now)))
}

const wordsIn = (text: string): string[] => text.match(/\s+|[^\s]+/g) ?? []

/** `lengths[i][j]`: words that `old` from i and `now` from j have in common. */
function lengthsOf(old: readonly string[], now: readonly string[]): Uint16Array[] {
  const lengths: Uint16Array[] = [new Uint16Array(now.length + 1)]
  for (const word of [...old].reverse())
    lengths.unshift(rowAbove(word, now, lengths[0] ?? new Uint16Array()))
  return lengths
}

function rowAbove(word: string, now: readonly string[], below: Uint16Array): Uint16Array {
  const row = new Uint16Array(now.length + 1)
  for (let j = now.length - 1; j >= 0; j--)
    row[j] = word === now[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0)
  return row
}

function walk(old: readonly string[], now: readonly string[], lengths: Uint16Array[]): Part[] {
  const parts: Part[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    const [was, is] = [old[i], now[j]]
    if (was !== undefined && was === is) {
      parts.push({ kind: 'same', text: was })
      i++
      j++
    } else if (
      is === undefined ||
      (was !== undefined && down(lengths, i, j) >= right(lengths, i, j))
    ) {
      parts.push({ kind: 'removed', text: was ?? '' })
      i++
    } else {
      parts.push({ kind: 'added', text: is })
      j++
    }
  }
  return parts
}

const down = (lengths: Uint16Array[], i: number, j: number) => lengths[i + 1]?.[j] ?? 0
const right = (lengths: Uint16Array[], i: number, j: number) => lengths[i]?.[j + 1] ?? 0

function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = []
  for (const { kind, text } of parts) {
    const last = all.at(-1)
    if (last?.kind === kind) last.text += text
    else all.push({ kind, text })
  }
  return all
}
